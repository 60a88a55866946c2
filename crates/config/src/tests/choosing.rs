//! How a virtual server chooses: from typed options to what the core is told, and back to a line.

use sluice_balance::{
    AddressMask, Change, Method, Persistence, PersistenceKind, PersistenceTimeout, SkipPersistence,
    TokenRange, VserverId, VserverSettings,
};

use super::{configured, core, planned, refused, run, tcp_vserver};
use crate::Config;

fn by_source() -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}

fn minutes(minutes: u64) -> PersistenceTimeout {
    PersistenceTimeout::new(minutes).unwrap()
}

fn mask(v4: &str, v6: u64) -> AddressMask {
    AddressMask::new(v4.parse().unwrap(), v6).unwrap()
}

/// Returns what a virtual server with these options tells the core of its persistence.
fn persistence(options: &str) -> Option<Persistence> {
    let config = configured(&[&format!("add lb vserver v1 TCP {options}")]);
    core(&config).persistence
}

#[test]
fn every_option_of_persistence_reaches_the_core() {
    assert_eq!(persistence(""), None);
    assert_eq!(persistence("-persistenceType NONE"), None);
    assert_eq!(persistence("-persistenceType SOURCEIP"), Some(by_source()));
    for (word, kind) in [
        ("DESTIP", PersistenceKind::DestIp),
        ("SRCIPDESTIP", PersistenceKind::SrcIpDestIp),
    ] {
        let expected = Persistence {
            kind,
            ..by_source()
        };
        let told = persistence(&format!("-persistenceType {word}"));
        assert_eq!(told, Some(expected), "{word}");
    }
    let all = "-persistenceType SOURCEIP -timeout 1440 -persistMask 255.255.254.0 \
               -v6persistmasklen 64 -skippersistency ReLb";
    let expected = Persistence {
        mask: mask("255.255.254.0", 64),
        timeout: minutes(1440),
        skip: SkipPersistence::ReLb,
        trofs: true,
        ..by_source()
    };
    assert_eq!(persistence(all), Some(expected));
    let skip = |word: &str| {
        let options = format!("-persistenceType SOURCEIP -skippersistency {word}");
        persistence(&options).map(|persistence| persistence.skip)
    };
    assert_eq!(skip("bypass"), Some(SkipPersistence::Bypass));
    assert_eq!(skip("none"), Some(SkipPersistence::None));
}

#[test]
fn persistence_is_set_and_unset_like_any_option() {
    let mut config = configured(&["add lb vserver v1 TCP"]);
    let told = |persistence| {
        let settings = VserverSettings {
            persistence,
            ..tcp_vserver(None)
        };
        vec![Change::SetVserver(VserverId(1), settings)]
    };
    let plan = run(
        &mut config,
        "set lb vserver v1 -persistenceType SOURCEIP -timeout 5",
    );
    let five = Persistence {
        timeout: minutes(5),
        ..by_source()
    };
    assert_eq!(plan.changes, told(Some(five)));
    let plan = run(&mut config, "unset lb vserver v1 -timeout");
    assert_eq!(plan.changes, told(Some(by_source())));
    let plan = run(&mut config, "unset lb vserver v1 -persistenceType");
    assert_eq!(plan.changes, told(None));
    assert_eq!(config, configured(&["add lb vserver v1 TCP"]));
}

#[test]
fn lines_that_appliances_saved_are_read_and_written_back() {
    for line in [
        "add lb vserver v3 UDP 10.0.0.11 53 -persistenceType SOURCEIP -timeout 60 -lbMethod \
         ROUNDROBIN -cltTimeout 120",
        "add lb vserver v4 TCP 10.0.0.11 80 -persistenceType DESTIP -timeout 30 -persistMask \
         255.255.255.0 -v6persistmasklen 64 -trofsPersistence DISABLED -cltTimeout 9000 -comment \
         \"first site\" -skippersistency Bypass",
    ] {
        assert_eq!(configured(&[line]).render(), [line]);
    }
}

#[test]
fn what_does_nothing_without_persistence_says_so() {
    let config = configured(&["add lb vserver v1 TCP"]);
    let warnings = |line: &str| planned(&config, line).warnings;
    assert_eq!(
        warnings("set lb vserver v1 -timeout 5 -persistMask 255.0.0.0 -skippersistency None"),
        [
            "-timeout has no effect with -persistenceType NONE",
            "-persistMask has no effect with -persistenceType NONE",
        ]
    );
    let none: [&str; 0] = [];
    assert_eq!(
        warnings("set lb vserver v1 -timeout 5 -persistenceType SOURCEIP"),
        none
    );
    assert_eq!(
        warnings("add lb vserver v2 TCP -trofsPersistence DISABLED"),
        ["-trofsPersistence has no effect with -persistenceType NONE"]
    );
}

#[test]
fn the_masks_of_a_hash_and_the_identity_of_a_service_reach_the_core() {
    let line = "add lb vserver v1 TCP -lbMethod SOURCEIPHASH -netmask 255.255.0.0 -v6netmasklen 48";
    let mut config = configured(&[line]);
    let hash = core(&config).hash;
    assert_eq!(hash.mask, mask("255.255.0.0", 48));
    assert_eq!(
        planned(&config, "set lb vserver v1 -cltTimeout 5").warnings,
        [""; 0]
    );

    run(&mut config, "add service s1 10.0.0.1 TCP 80 -hashId 7");
    let id = |config: &Config| config.core_of(config.service("s1").unwrap()).hash_id;
    assert_eq!(id(&config), Some(7));
    assert!(
        config
            .render()
            .iter()
            .any(|line| line.ends_with(" -hashId 7"))
    );
    run(&mut config, "unset service s1 -hashId");
    assert_eq!(id(&config), None);
}

#[test]
fn what_does_nothing_with_the_method_says_so() {
    let config = configured(&["add lb vserver v1 TCP -lbMethod SRCIPDESTIPHASH"]);
    let warnings = |line: &str| planned(&config, line).warnings;
    assert_eq!(
        warnings("set lb vserver v1 -netmask 255.0.0.0 -v6netmasklen 128"),
        ["-netmask has no effect with -lbMethod SRCIPDESTIPHASH"]
    );
    assert_eq!(
        warnings("add lb vserver v2 TCP -lbMethod DESTINATIONIPHASH -netmask 255.0.0.0"),
        [""; 0]
    );
    assert_eq!(
        warnings("set lb vserver v1 -hashLength 100 -backupLBMethod LEASTPACKETS"),
        [
            "-hashLength has no effect here [URLs and domains are not looked at]",
            "-backupLBMethod has no effect with -lbMethod SRCIPDESTIPHASH",
        ]
    );
}

#[test]
fn a_token_goes_with_its_method_alone() {
    let mut config = configured(&[
        "add lb vserver v1 TCP -lbMethod TOKEN -dataLength 100 -dataOffset 25400",
        "add lb vserver v2 UDP",
    ]);
    let token = |offset, length| Method::Token(TokenRange::new(offset, length).unwrap());
    assert_eq!(core(&config).method, token(25_400, 100));
    assert_eq!(
        config.render()[0],
        "add lb vserver v1 TCP 0.0.0.0 0 -persistenceType NONE -lbMethod TOKEN -dataLength 100 \
         -dataOffset 25400 -cltTimeout 9000"
    );
    run(&mut config, "set lb vserver v1 -dataLength 8");
    run(&mut config, "unset lb vserver v1 -dataOffset");
    assert_eq!(core(&config).method, token(0, 8));

    let without_length = "1093 Argument pre-requisite missing [lbMethod==TOKEN, dataLength]";
    let without_token =
        |option: &str| format!("1093 Argument pre-requisite missing [{option}, lbMethod==TOKEN]");
    for (line, fault) in [
        (
            "set lb vserver v2 -lbMethod TOKEN",
            without_length.to_owned(),
        ),
        (
            "add lb vserver v3 TCP -lbMethod TOKEN -dataOffset 4",
            without_length.to_owned(),
        ),
        ("unset lb vserver v1 -dataLength", without_length.to_owned()),
        (
            "set lb vserver v2 -dataLength 8",
            without_token("dataLength"),
        ),
        (
            "add lb vserver v3 TCP -dataOffset 4",
            without_token("dataOffset"),
        ),
        (
            "set lb vserver v1 -lbMethod ROUNDROBIN -dataLength 9",
            without_token("dataLength"),
        ),
    ] {
        assert_eq!(refused(&config, line), fault, "{line}");
    }

    for line in [
        "set lb vserver v1 -lbMethod ROUNDROBIN",
        "unset lb vserver v1 -lbMethod",
    ] {
        let mut config = config.clone();
        run(&mut config, line);
        let rendered = config.render();
        assert!(!rendered[0].contains("data"), "{rendered:?}");
        run(&mut config, "unset lb vserver v1 -dataLength");
        assert_eq!(
            refused(&config, "set lb vserver v1 -lbMethod TOKEN"),
            without_length
        );
    }
    run(
        &mut config,
        "set lb vserver v2 -lbMethod TOKEN -dataLength 1",
    );
}

#[test]
fn a_method_is_not_its_own_backup() {
    let same = |word: &str| {
        format!(
            "1334 Backup load balancing method cannot be the same as the primary load balancing \
             method [backupLBMethod, {word}]"
        )
    };
    let mut config = configured(&[
        "add lb vserver v1 TCP -lbMethod ROUNDROBIN",
        "add lb vserver v2 TCP -backupLBMethod LEASTPACKETS",
    ]);
    for (line, word) in [
        ("set lb vserver v1 -backupLBMethod ROUNDROBIN", "ROUNDROBIN"),
        ("set lb vserver v2 -lbMethod LEASTPACKETS", "LEASTPACKETS"),
        (
            "set lb vserver v2 -backupLBMethod LEASTCONNECTION",
            "LEASTCONNECTION",
        ),
        (
            "add lb vserver v3 TCP -backupLBMethod LEASTBANDWIDTH -lbMethod LEASTBANDWIDTH",
            "LEASTBANDWIDTH",
        ),
    ] {
        assert_eq!(refused(&config, line), same(word), "{line}");
    }
    run(&mut config, "set lb vserver v2 -lbMethod ROUNDROBIN");
    run(
        &mut config,
        "set lb vserver v2 -lbMethod LEASTPACKETS -backupLBMethod ROUNDROBIN",
    );
}

#[test]
fn a_mask_off_the_wire_must_be_one() {
    use sluice_command::{Arg, Command, Key, Noun, Value, Verb};
    let config: Config = configured(&["add lb vserver v1 TCP"]);
    let set = |value| Command {
        verb: Verb::Set,
        noun: Noun::LbVserver,
        args: vec![
            Arg {
                key: Key::Name,
                values: vec![Value::Text("v1".to_owned())],
            },
            Arg {
                key: Key::PersistMask,
                values: vec![value],
            },
        ],
    };
    for text in ["255.0.255.0", "::1", "0.0.0.1"] {
        let fault = config.plan(&set(Value::Address(text.parse().unwrap())));
        assert_eq!(fault.unwrap_err().code, 1097, "{text}");
    }
    assert_eq!(
        config.plan(&set(Value::Integer(24))).unwrap_err().code,
        1097
    );
    let good = Value::Address("255.128.0.0".parse().unwrap());
    assert!(config.plan(&set(good)).is_ok());
}
