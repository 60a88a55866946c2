//! What the system knows of a running process, and the limits of our own.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns how many sockets the process has open.
///
/// Pipes are left out: a few that a worker has used wait for the next transfer.
pub fn sockets(pid: u32) -> usize {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return 0;
    };
    entries
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|link| link.to_string_lossy().starts_with("socket:"))
        .count()
}

/// Returns the processor time the process has used so far, in steps of 10 ms.
///
/// # Panics
/// When there is no such process.
pub fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process exists");
    let (_, fields) = stat.rsplit_once(')').expect("proc(5)");
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<u64>().expect("proc(5)");
    // Always hundredths of a second in user space.
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// Returns the resident memory of the process in bytes.
///
/// # Panics
/// When there is no such process.
pub fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process exists");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    1024 * kilobytes.expect("proc(5)").parse::<u64>().expect("proc(5)")
}

/// Lets this process, and daemons it starts from now on, open at least `needed` files.
///
/// # Panics
/// When the hard limit is lower: a test that needs more cannot tell anything then.
pub fn raise_descriptor_limit(needed: u64) {
    let limit = getrlimit(Resource::Nofile);
    let enough = |value: Option<u64>| value.is_none_or(|value| value >= needed);
    assert!(
        enough(limit.maximum),
        "this test opens {needed} files, and the hard limit is {:?}; raise it (ulimit -Hn)",
        limit.maximum
    );
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("a process may raise its soft limit");
}
