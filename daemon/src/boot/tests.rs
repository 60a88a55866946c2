//! Starts from files, with a data plane and without clients.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use sluice_command::{Command, parse};
use sluice_dataplane::{Driver, Options};

use super::*;

/// What runs, and what does not and why.
struct Booted {
    config: Config,
    ns_conf: NsConf,
}

impl Booted {
    fn from(path: &Path) -> Self {
        let options = Options {
            workers: 1,
            driver: Driver::Epoll,
            wake: Arc::new(|| {}),
        };
        let mut dataplane = Dataplane::start(options).unwrap();
        let mut config = Config::new();
        let ns_conf = load(path.to_owned(), &mut config, &mut dataplane).unwrap();
        Self { config, ns_conf }
    }

    fn run(&mut self, line: &str) {
        let plan = plan_line(&self.config, line).unwrap().unwrap();
        self.config.commit(plan);
        let at = UNIX_EPOCH + Duration::from_secs(1);
        self.ns_conf.note_change(&self.config, &command(line), at);
    }

    /// Saves and returns what it warns of.
    fn save(&mut self) -> Option<String> {
        let force = command("save ns config -force");
        let save = self.ns_conf.start_save(&self.config, &force).unwrap();
        let written = save.write();
        let at = UNIX_EPOCH + Duration::from_secs(2);
        self.ns_conf.finish_save(save, written, at).unwrap()
    }
}

fn command(line: &str) -> Command {
    parse(line).unwrap().unwrap()
}

const OBJECTS: &str = "add server a 10.0.0.1\nadd service s1 a TCP 80\nadd service s2 a TCP 81\n\
    add lb vserver v1 TCP -cltTimeout 77\nadd lb vserver v2 TCP\nbind lb vserver v1 s1\n\
    bind lb vserver v1 s2\nadd server lone 10.0.0.9\n";

#[test]
fn a_backup_may_be_added_further_down_and_one_that_never_comes_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let text = "add lb vserver v1 TCP -backupVServer v2\nadd lb vserver v2 TCP\n\
                add lb vserver v3 TCP -backupVServer v9\nbind lb vserver v3 nope\n";
    fs::write(&path, text).unwrap();
    let mut booted = Booted::from(&path);
    let backup = |booted: &Booted, name: &str| {
        let vserver = booted.config.vserver(name).unwrap();
        let backup = booted.config.backup_of(vserver);
        backup.map(|backup| backup.name().to_owned())
    };
    assert_eq!(backup(&booted, "v1").as_deref(), Some("v2"));
    assert_eq!(backup(&booted, "v3"), None);
    let at = |line: usize| format!("{}:{line}: ERROR: ", path.display());
    let failures = booted.ns_conf.failures();
    assert_eq!(failures.len(), 2);
    let missing = format!("{}No such resource [backupVServer, v9]", at(3));
    assert!(failures[0].starts_with(&missing), "{failures:?}");
    assert!(failures[1].starts_with(&at(4)), "{failures:?}");

    assert_eq!(booted.save(), None);
    let text = fs::read_to_string(&path).unwrap();
    let kept = "# not loaded: set lb vserver v3 -backupVServer v9\n\
                # not loaded: bind lb vserver v3 nope\n";
    assert!(text.ends_with(kept), "{text}");
    let again = Booted::from(&path);
    assert_eq!(again.config, booted.config);
    assert_eq!(again.ns_conf.failures().len(), 2);
}

#[test]
fn lines_that_failed_do_nothing_after_a_save_either() {
    for line in [
        "rm server lone",
        "rm service s1",
        "rm lb vserver v1",
        "set server a -IPAddress 10.0.0.2",
        "set service s1 -maxClient 1",
        "set lb vserver v1 -cltTimeout 5",
        "unset lb vserver v1 -cltTimeout",
        "disable service s1",
        "disable server a",
        "disable lb vserver v1",
        "unbind lb vserver v1 s1",
        "  SET lb  vserver v1 -cltTimeout 5 # why \t\r",
        "bind lb vserver v2 s1",
        "add service s3 a TCP 82",
        "nosuch command",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        fs::write(&path, format!("{line}\n{OBJECTS}")).unwrap();
        let mut booted = Booted::from(&path);
        let running = booted.config.render();
        assert_eq!(booted.ns_conf.failures().len(), 1, "{line}");
        assert_eq!(booted.save(), None, "{line}");
        for _ in 0..2 {
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.ends_with(&format!("\n# not loaded: {line}\n")),
                "{text}"
            );
            // Under the number that the line has in the file now, before and after a restart.
            let place = format!("{}:{}: ERROR: ", path.display(), text.lines().count());
            assert!(booted.ns_conf.failures()[0].starts_with(&place), "{line}");
            booted = Booted::from(&path);
            assert_eq!(booted.config.render(), running, "{line}");
            let failures = booted.ns_conf.failures();
            assert_eq!(failures.len(), 1, "{line}");
            assert!(failures[0].starts_with(&place), "{failures:?}");
            let refused = booted
                .ns_conf
                .start_save(&booted.config, &command("save ns config"));
            assert!(refused.is_err(), "{line} is forgotten");
            booted.save();
        }
    }
}

#[test]
fn kept_line_is_any_bytes_and_says_why_it_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    fs::write(
        &path,
        b"rm server a\r\n# \xff\nadd server a 10.0.0.1\nnosuch\n",
    )
    .unwrap();
    Booted::from(&path).save();
    let saved = b"add server a 10.0.0.1\n\
        # These lines failed when the configuration was loaded. They are kept and do not run.\n\
        # not loaded: rm server a\r\n# not loaded: # \xff\n# not loaded: nosuch\n";
    assert_eq!(fs::read(&path).unwrap(), saved);
    let path = path.display();
    assert_eq!(
        Booted::from(Path::new(&path.to_string()))
            .ns_conf
            .failures(),
        [
            format!(
                "{path}:3: ERROR: Not loaded, because it failed at an earlier start [rm server a]"
            ),
            format!(
                "{path}:4: ERROR: Not loaded, because it failed at an earlier start [# \u{fffd}]"
            ),
            format!("{path}:5: ERROR: No such command [nosuch]"),
        ]
    );
}

#[test]
fn kept_line_is_forgotten_when_it_is_run_or_made_good_or_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let bad = "set lb vserver v1  -cltTimeout 5\nbind lb vserver v2 s1\nadd server a 10.0.0.7\n\
        nosuch\n";
    let (first, last) = bad.split_at(bad.find("add server").unwrap());
    fs::write(&path, format!("{first}{OBJECTS}{last}")).unwrap();
    let mut booted = Booted::from(&path);
    booted.save();
    booted = Booted::from(&path);
    assert_eq!(booted.ns_conf.failures().len(), 4);
    booted.run("set lb vserver v1 -cltTimeout 5");
    assert_eq!(booted.ns_conf.failures().len(), 3);
    booted.run("bind lb vserver v2 s1 -weight 9");
    // That a server exists does not make good the line that was to give it another address.
    assert_eq!(booted.ns_conf.failures().len(), 2);
    booted.save();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("\n# not loaded: add server a 10.0.0.7\n# not loaded: nosuch\n"));
    fs::write(&path, text.replace("# not loaded: nosuch\n", "")).unwrap();
    assert_eq!(Booted::from(&path).ns_conf.failures().len(), 1);
}

/// A file whose virtual server `v1` cannot have its address as long as the listener lives.
fn without_its_address(path: &Path) -> std::net::TcpListener {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let text = format!(
        "add service s1 127.0.0.1 TCP 9\nadd lb vserver v1 TCP 127.0.0.1 {port}\n\
         set lb vserver v1 -comment c\nbind lb vserver v1 s1 -weight 3\n"
    );
    fs::write(path, text).unwrap();
    taken
}

#[test]
fn what_failed_for_want_of_an_address_is_tried_again_with_what_builds_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let taken = without_its_address(&path);
    for _ in 0..2 {
        let mut booted = Booted::from(&path);
        assert_eq!(booted.ns_conf.failures().len(), 3);
        assert!(booted.ns_conf.failures()[0].contains("Address already in use"));
        assert_eq!(booted.save(), None);
        let text = fs::read_to_string(&path).unwrap();
        let (_, kept) = text.split_once("tries them again.\n").unwrap();
        let mut kept = kept.lines();
        assert!(
            kept.next()
                .unwrap()
                .starts_with("add lb vserver v1 TCP 127.0.0.1 ")
        );
        assert_eq!(kept.next(), Some("bind lb vserver v1 s1 -weight 3"));
        kept.next().unwrap();
        // What changes an object could change another one by then.
        assert_eq!(
            kept.next(),
            Some("# not loaded: set lb vserver v1 -comment c")
        );
        // The numbers are those of the file, and in the order of the lines.
        for failure in booted.ns_conf.failures() {
            let rest = failure
                .strip_prefix(&format!("{}:", path.display()))
                .unwrap();
            let number: usize = rest.split(':').next().unwrap().parse().unwrap();
            assert!(
                text.lines().nth(number - 1).unwrap().contains("v1"),
                "{failure}"
            );
        }
    }
    drop(taken);
    let booted = Booted::from(&path);
    assert_eq!(booted.ns_conf.failures().len(), 1);
    assert_eq!(booted.config.vserver("v1").unwrap().bindings().len(), 1);
}

#[test]
fn what_would_be_tried_again_is_not_when_its_object_is_another_one_by_then() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let _taken = without_its_address(&path);
    let mut booted = Booted::from(&path);
    booted.run("add lb vserver v1 TCP");
    assert_eq!(booted.save(), None);
    let booted = Booted::from(&path);
    assert_eq!(booted.config.vserver("v1").unwrap().bindings().len(), 0);
    assert_eq!(booted.ns_conf.failures().len(), 2);
}

#[test]
fn lines_of_features_that_are_not_here_are_kept_as_they_are_and_stop_no_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let file = b"add  cs vserver c HTTP\r\nadd server a 10.0.0.1\nbind ssl vserver \xff \"x\n";
    fs::write(&path, file).unwrap();
    for _ in 0..2 {
        let mut booted = Booted::from(&path);
        assert_eq!(booted.ns_conf.failures(), [""; 0]);
        let plain = command("save ns config");
        let save = booted.ns_conf.start_save(&booted.config, &plain).unwrap();
        save.write().unwrap();
        let saved = b"add server a 10.0.0.1\n\
            # These lines are about features that are not here. They are kept as they are.\n\
            add  cs vserver c HTTP\r\nbind ssl vserver \xff \"x\n";
        assert_eq!(fs::read(&path).unwrap(), saved);
    }
}

#[test]
fn save_warns_of_a_file_that_somebody_else_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    let mut booted = Booted::from(&path);
    booted.run("add server a 10.0.0.1");
    assert_eq!(booted.save(), None, "there was no file");
    booted.run("add server b 10.0.0.2");
    assert_eq!(booted.save(), None, "it was ours");
    let theirs = "add server theirs 10.0.0.3\n";
    fs::write(&path, theirs).unwrap();
    let shown = path.display();
    assert_eq!(
        booted.save().unwrap(),
        format!(
            "{shown} was changed by another program since it was loaded or saved; its former \
             content is kept as {shown}.0"
        )
    );
    let kept = folder.path().join("ns.conf.0");
    assert_eq!(fs::read_to_string(kept).unwrap(), theirs);
    assert_eq!(booted.save(), None, "it is told once");
    let mut second = Booted::from(&path);
    second.run("add server c 10.0.0.4");
    assert_eq!(second.save(), None, "it is as it was loaded");
    booted.run("add server c 10.0.0.4");
    assert_eq!(booted.save(), None, "the same text loses nothing");
}

#[test]
fn a_missing_file_is_empty_and_an_unreadable_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(read(&folder.path().join("none")).unwrap(), None);
    let refused = read(folder.path()).unwrap_err();
    assert!(matches!(refused, BootError::Unreadable { .. }), "{refused}");
    let refused = read(Path::new("/dev/zero")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the configuration /dev/zero has more than 67108864 bytes"
    );
}
