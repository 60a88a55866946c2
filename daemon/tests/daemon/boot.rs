//! The configuration file at the start, and saving it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::running::{Running, command, free_port, in_folder, run_to_end};

#[test]
fn bad_lines_are_reported_with_their_place_and_the_rest_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("ns.conf");
    let text = "# first\nadd server s1 10.0.0.1\nadd server s1 10.0.0.2\nnosuch \x1b[2J\nadd server s2 10.0.0.2";
    fs::write(&conf, text).unwrap();
    let daemon = Running::start(folder.path(), &[]);

    let conf = conf.display();
    let failures = [
        format!("{conf}:3: ERROR: Resource already exists"),
        format!("{conf}:4: ERROR: "),
    ];
    let reported: Vec<_> = daemon
        .before_ready
        .iter()
        .filter(|line| line.contains(": ERROR: "))
        .collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert_eq!(*reported[0], failures[0]);
    assert!(reported[1].starts_with(&failures[1]), "{reported:?}");
    assert!(!reported[1].contains('\x1b'), "{reported:?}");
    assert_eq!(
        daemon.status().boot_failures.iter().collect::<Vec<_>>(),
        reported
    );
    assert_eq!(
        daemon.running_config(),
        ["add server s1 10.0.0.1", "add server s2 10.0.0.2"]
    );
}

#[test]
fn saving_over_failed_lines_needs_force_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("ns.conf");
    let text = "add server s1 10.0.0.1\nset nosuch name  'x'\t\n";
    fs::write(&conf, text).unwrap();
    let daemon = Running::start(folder.path(), &[]);
    let refused = daemon.refused("save ns config");
    assert!(
        refused.starts_with("Lines of the configuration file failed when it was loaded [1, first "),
        "{refused}"
    );
    daemon.ok("save ns config -force");
    assert_eq!(
        fs::read_to_string(&conf).unwrap(),
        "add server s1 10.0.0.1\n\
         # These lines failed when the configuration was loaded. They are kept and do not run.\n\
         # not loaded: set nosuch name  'x'\t\n"
    );
    let place = format!("{}:3: ERROR: No such command", conf.display());
    assert!(daemon.status().boot_failures[0].starts_with(&place));
    drop(daemon);
    let daemon = Running::start(folder.path(), &[]);
    assert!(
        daemon.before_ready[0].starts_with(&place),
        "{:?}",
        daemon.before_ready
    );
    daemon.refused("save ns config");
}

#[test]
fn strict_ends_with_status_1_after_listing_the_failures() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("ns.conf");
    fs::write(&conf, "nosuch\nnosuch\n").unwrap();
    let (status, log) = run_to_end(command(folder.path()).arg("--strict"));
    assert_eq!(status, Some(1), "{log}");
    assert!(
        log.contains(&format!("{}:2: ERROR: No such command", conf.display())),
        "{log}"
    );
    assert!(!log.lines().any(|line| line == "ready"), "{log}");
    assert!(!folder.path().join("control.sock").exists());
}

#[test]
fn an_address_in_use_fails_its_line_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let text = format!("add lb vserver v1 TCP 127.0.0.1 {port}\nadd server s1 10.0.0.1\n");
    fs::write(folder.path().join("ns.conf"), text).unwrap();
    let daemon = Running::start(folder.path(), &[]);
    let conf = folder.path().join("ns.conf");
    assert_eq!(
        daemon.status().boot_failures,
        [format!(
            "{}:1: ERROR: Address already in use [127.0.0.1:{port}]",
            conf.display()
        )]
    );
    assert_eq!(daemon.running_config(), ["add server s1 10.0.0.1"]);
}

#[test]
fn a_missing_file_is_an_empty_configuration_and_a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &[]);
    assert_eq!(daemon.running_config(), Vec::<String>::new());
    drop(daemon);

    fs::create_dir(folder.path().join("ns.conf")).unwrap();
    let (status, log) = run_to_end(&mut command(folder.path()));
    assert_eq!(status, Some(1));
    assert!(log.contains("cannot read the configuration"), "{log}");
}

#[test]
fn after_kill_9_the_saved_configuration_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &[]);
    let listen = format!(
        "add lb vserver v1 TCP 127.0.0.1 {} -lbMethod LEASTBANDWIDTH",
        free_port()
    );
    for line in [
        "add server h1 127.0.0.1 -comment \"a \\\"b\\\" \\\\ c\"",
        "add service s1 h1 TCP 8001 -maxClient 7",
        "add service s2 127.0.0.2 TCP 8002 -state DISABLED",
        &listen,
        "bind lb vserver v1 s1 -weight 3",
        "bind lb vserver v1 s2",
        "set lb vserver v1 -newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5",
        "disable service s1",
    ] {
        let result = daemon.client().run(line);
        assert!(
            result.is_ok() || line.contains("127.0.0.1 0"),
            "{line}: {result:?}"
        );
    }
    assert!(daemon.status().unsaved);
    daemon.ok("save ns config");
    let status = daemon.status();
    assert!(!status.unsaved && status.saved_unix_ms.is_some());
    let before = daemon.running_config();
    assert_eq!(before.len(), 7, "{before:?}");
    daemon.kill();

    let daemon = Running::start(folder.path(), &["--strict"]);
    assert_eq!(daemon.running_config(), before);
    assert!(!daemon.status().unsaved);
}

#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("ns.conf");
    fs::write(&conf, "add server s1 10.0.0.1\n").unwrap();
    let inode = fs::metadata(&conf).unwrap().ino();
    // A limit of 0 bytes a file; the signal that comes with it is ignored, so that writing fails.
    let mut limited = Command::new("sh");
    let sluiced = env!("CARGO_BIN_EXE_sluiced");
    limited.args([
        "-c",
        "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"",
        sluiced,
    ]);
    in_folder(&mut limited, folder.path());
    let daemon = Running::spawn(&mut limited, folder.path());

    daemon.ok("add server s2 10.0.0.2");
    let refused = daemon.refused("save ns config");
    assert!(
        refused.starts_with("Configuration could not be saved [cannot write "),
        "{refused}"
    );
    assert!(daemon.status().unsaved);
    assert_eq!(
        fs::read_to_string(&conf).unwrap(),
        "add server s1 10.0.0.1\n"
    );
    assert_eq!(fs::metadata(&conf).unwrap().ino(), inode);
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(
        names, 3,
        "configuration, socket and lock; no half-written file"
    );
}
