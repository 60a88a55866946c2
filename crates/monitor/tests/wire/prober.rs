//! Probes beside each other.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sluice_monitor::{Check, Outcome, Probe, Prober, Program, Report};
use tempfile::TempDir;

use super::user::script;
use super::{LIMIT, ecv, probe};

fn start() -> (Prober, Receiver<(u64, Report)>) {
    let (sender, reports) = channel();
    let prober = Prober::start(move |number, report| {
        let _ = sender.send((number, report));
    });
    (prober.unwrap(), reports)
}

/// Accepts in the kernel and never answers.
fn silent() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn program(folder: &TempDir, text: &str) -> Arc<Probe> {
    let path = script(folder, text);
    let args = Vec::new();
    Arc::new(probe(Check::User(Program { path, args })))
}

#[test]
fn each_probe_is_reported_once_by_its_number() {
    let (prober, reports) = start();
    let (_listener, address) = silent();
    for number in 0..100 {
        prober.probe(number, Arc::new(probe(Check::Tcp)), address, LIMIT);
    }
    let mut seen: Vec<_> = (0..100)
        .map(|_| {
            let (number, report) = reports.recv_timeout(LIMIT).unwrap();
            assert_eq!(report.outcome, Outcome::Passed, "{}", report.text);
            number
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..100).collect::<Vec<_>>());
    drop(prober);
    assert!(reports.recv().is_err(), "no second report");
}

#[test]
fn cancelled_probe_is_not_reported() {
    let (prober, reports) = start();
    let (_listener, address) = silent();
    prober.probe(1, Arc::new(ecv("", "x")), address, LIMIT);
    prober.cancel(1);
    prober.cancel(7);
    prober.probe(2, Arc::new(probe(Check::Tcp)), address, LIMIT);
    assert_eq!(reports.recv_timeout(LIMIT).unwrap().0, 2);
    drop(prober);
    assert!(reports.recv().is_err(), "nothing else");
}

#[test]
fn programs_beyond_the_limit_wait_and_keep_nobody_else_waiting() {
    let (prober, reports) = start();
    let (_listener, address) = silent();
    let folder = TempDir::new().unwrap();
    let sleeps = program(&folder, "exec sleep 1000");
    for number in 0..32 {
        prober.probe(number, Arc::clone(&sleeps), address, LIMIT);
    }
    prober.probe(100, Arc::clone(&sleeps), address, Duration::from_millis(20));
    let (number, report) = reports.recv_timeout(LIMIT).unwrap();
    let text = "Failure - Probe timed out: too many probes at once.";
    assert_eq!((number, report.text.as_str()), (100, text));

    prober.probe(101, Arc::new(probe(Check::Tcp)), address, LIMIT);
    let (number, report) = reports.recv_timeout(LIMIT).unwrap();
    assert_eq!((number, report.outcome), (101, Outcome::Passed));

    // A place that is free again is taken.
    let quick = TempDir::new().unwrap();
    prober.probe(102, program(&quick, "exit 0"), address, LIMIT);
    prober.cancel(3);
    let (number, report) = reports.recv_timeout(LIMIT).unwrap();
    let text = "Success - Probe succeeded.";
    assert_eq!((number, report.text.as_str()), (102, text));
}

#[test]
fn thread_goes_first_where_it_may_and_its_programs_do_not() {
    let (prober, reports) = start();
    let folder = TempDir::new().unwrap();
    prober.probe(1, program(&folder, "nice"), silent().1, LIMIT);
    let (_, report) = reports.recv_timeout(LIMIT).unwrap();
    let program: i32 = report.received.trim_end_matches(r"\n").parse().unwrap();
    assert!(program >= 0, "{program}");

    let mut threads = std::fs::read_dir("/proc/self/task").unwrap();
    let first = threads.any(|thread| {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("stat"));
        let stat = stat.unwrap_or_default();
        // The niceness is the 17th field behind the name in brackets.
        let fields = stat
            .split_once("(prober) ")
            .map(|(_, rest)| rest.split(' '));
        fields.and_then(|mut fields| fields.nth(16)) == Some("-10")
    });
    assert!(first || !may_go_first());
}

/// Whether this process has CAP_SYS_NICE, which is number 23.
fn may_go_first() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let rights = lines.find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(rights.trim(), 16).unwrap() & (1 << 23) != 0
}
