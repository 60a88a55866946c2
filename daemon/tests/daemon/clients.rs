//! Several clients at once.

use sluice_config::{Config, plan_line};

use rustix::process::Signal;

use crate::running::Running;

#[test]
fn two_clients_that_edit_one_virtual_server_leave_a_state_of_some_serial_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut daemon = Running::start(folder.path(), &[]);
    for line in [
        "add service s1 10.0.0.1 TCP 80",
        "add service s2 10.0.0.2 TCP 80",
        "add lb vserver v1 TCP",
    ] {
        daemon.ok(line);
    }
    std::thread::scope(|scope| {
        for (service, first) in [("s1", 1_u64), ("s2", 1_000)] {
            let mut shell = daemon.client();
            scope.spawn(move || {
                for step in first..first + 100 {
                    shell.ok(&format!("set lb vserver v1 -cltTimeout {step}"));
                    let bind = if step % 2 == 0 { "unbind" } else { "bind" };
                    // Refused for one of the two now and then, which must change nothing.
                    let _ = shell.run(&format!("{bind} lb vserver v1 {service}"));
                }
            });
        }
    });
    let running = daemon.running_config();
    daemon.signal(Signal::TERM);
    let (_, log) = daemon.wait();

    // The log of changes, run again one by one, gives the same configuration.
    let mut config = Config::new();
    let mut changes = 0;
    for line in &log {
        let Some((_, change)) = line.split_once("changed: ") else {
            continue;
        };
        let (command, _uid) = change.rsplit_once(" uid=").unwrap();
        let plan = plan_line(&config, command).unwrap().unwrap();
        config.commit(plan);
        changes += 1;
    }
    assert!(changes > 200, "{changes}");
    assert_eq!(config.render(), running);
}
