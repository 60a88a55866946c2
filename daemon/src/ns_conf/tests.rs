//! The file's state, without a data plane.

use super::*;
use sluice_command::parse;

/// Loads `lines` as the boot does, without a data plane.
fn loaded(path: &Path, lines: &[&str]) -> (Config, NsConf) {
    let mut config = Config::new();
    let mut failed = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match plan_line(&config, line) {
            Ok(None) => {}
            Ok(Some(plan)) => config.commit(plan),
            Err(refused) => failed.push(FailedLine {
                number: index + 1,
                text: line.as_bytes().to_vec(),
                fault: refused.fault().clone(),
                again: false,
            }),
        }
    }
    let ns_conf = NsConf::loaded(path.to_owned(), None, (failed, Vec::new()), &config);
    (config, ns_conf)
}

fn run(config: &mut Config, line: &str) {
    let plan = plan_line(config, line).unwrap().unwrap();
    config.commit(plan);
}

fn save(
    ns_conf: &mut NsConf,
    config: &Config,
    line: &str,
    at: SystemTime,
) -> Result<Option<String>, Fault> {
    let save = ns_conf.start_save(config, &command(line))?;
    let written = save.write();
    ns_conf.finish_save(save, written, at)
}

fn command(line: &str) -> Command {
    parse(line).unwrap().unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn a_failed_line_is_reported_with_file_and_number_and_control_characters_escaped() {
    let (_, ns_conf) = loaded(
        Path::new("/etc/a\x1bb"),
        &[
            "add server s1 10.0.0.1",
            "",
            "add server s1 10.0.0.1",
            "nosuch",
        ],
    );
    assert_eq!(
        ns_conf.failures(),
        [
            "/etc/a\\u{1b}b:3: ERROR: Resource already exists",
            "/etc/a\\u{1b}b:4: ERROR: No such command [nosuch]",
        ]
    );
}

#[test]
fn saving_refuses_while_failures_stand_and_force_writes_them_back_verbatim() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ns.conf");
    std::fs::write(&path, "old").unwrap();
    let (config, mut ns_conf) = loaded(
        &path,
        &[
            "add  SERVER s1 10.0.0.1",
            "  bind lb vserver v1 \"s 9\"\t# later\r",
        ],
    );

    let refused = save(&mut ns_conf, &config, "save ns config", at(1)).unwrap_err();
    assert_eq!(refused.code, catalogue::BOOT_FAILURES_STAND.number);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

    save(&mut ns_conf, &config, "save ns config -force", at(2)).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "add server s1 10.0.0.1\n\
         # These lines failed when the configuration was loaded. They are kept and do not run.\n\
         # not loaded:   bind lb vserver v1 \"s 9\"\t# later\r\n"
    );
    let failures = ns_conf.failures();
    let place = format!("{}:3: ", path.display());
    assert!(failures[0].starts_with(&place), "{failures:?}");
}

#[test]
fn unsaved_means_that_the_configuration_differs_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, mut ns_conf) = loaded(
        &folder.path().join("ns.conf"),
        &["add server s1 10.0.0.1 # first"],
    );
    let status = |ns_conf: &NsConf, config: &Config| {
        let status = ns_conf.status(config, at(9));
        assert_eq!(status.system_unix_ms, 9_000);
        (status.unsaved, status.changed_unix_ms, status.saved_unix_ms)
    };
    assert_eq!(status(&ns_conf, &config), (false, None, None));

    run(&mut config, "add server s2 10.0.0.2");
    ns_conf.note_change(&config, &command("add server s2 10.0.0.2"), at(3));
    assert_eq!(status(&ns_conf, &config), (true, Some(3_000), None));

    save(&mut ns_conf, &config, "save ns config", at(4)).unwrap();
    assert_eq!(status(&ns_conf, &config), (false, Some(3_000), Some(4_000)));

    run(&mut config, "add server s3 10.0.0.3");
    run(&mut config, "rm server s3");
    assert!(
        !status(&ns_conf, &config).0,
        "what was undone needs no saving"
    );
}

#[test]
fn a_save_that_fails_changes_neither_file_nor_state() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, mut ns_conf) = loaded(folder.path(), &[]);
    run(&mut config, "add server s1 10.0.0.1");
    let refused = save(&mut ns_conf, &config, "save ns config", at(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "Configuration could not be saved [{} is not a regular file]",
            folder.path().display()
        )
    );
    let status = ns_conf.status(&config, at(2));
    assert_eq!((status.unsaved, status.saved_unix_ms), (true, None));
}

#[test]
fn a_failed_line_is_dropped_when_its_object_is_made_by_hand() {
    let (mut config, mut ns_conf) = loaded(
        Path::new("c"),
        &[
            "add service s1 h1 TCP 80",
            "bind lb vserver v1 s1",
            "add server h2 10.0.0.2",
            "add server h2 10.0.0.2",
        ],
    );
    let numbers = |ns_conf: &NsConf| -> Vec<usize> {
        ns_conf.failed.iter().map(|line| line.number).collect()
    };
    for (line, left) in [
        ("add server h1 10.0.0.1", &[1, 2, 4][..]),
        ("add service s1 h1 TCP 8080", &[2, 4]),
        ("add lb vserver v1 TCP", &[2, 4]),
        ("bind lb vserver v1 s1 -weight 5", &[4]),
    ] {
        run(&mut config, line);
        ns_conf.note_change(&config, &command(line), at(1));
        assert_eq!(numbers(&ns_conf), left, "{line}");
    }
}

#[test]
fn one_save_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (config, mut ns_conf) = loaded(&folder.path().join("ns.conf"), &[]);
    let first = ns_conf
        .start_save(&config, &command("save ns config"))
        .unwrap();
    let refused = ns_conf
        .start_save(&config, &command("save ns config"))
        .unwrap_err();
    assert_eq!(refused.code, catalogue::SAVE_IN_PROGRESS.number);
    ns_conf
        .finish_save(first, Ok(Replaced::Nothing), at(1))
        .unwrap();
    save(&mut ns_conf, &config, "save ns config", at(2)).unwrap();
}

#[test]
fn what_changes_during_a_save_is_unsaved() {
    let folder = tempfile::tempdir().unwrap();
    let (mut config, mut ns_conf) = loaded(&folder.path().join("ns.conf"), &[]);
    let first = ns_conf
        .start_save(&config, &command("save ns config"))
        .unwrap();
    run(&mut config, "add server s1 10.0.0.1");
    ns_conf
        .finish_save(first, Ok(Replaced::Nothing), at(1))
        .unwrap();
    assert!(ns_conf.status(&config, at(2)).unsaved);
}
