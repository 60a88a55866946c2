//! Processor time and memory of processes, from `/proc`.

use std::fs;
use std::time::Duration;

/// Returns a process and all below it that live now.
pub(crate) fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let mut seen = 0;
    while seen < all.len() {
        let tasks = fs::read_dir(format!("/proc/{}/task", all[seen]))
            .into_iter()
            .flatten();
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(
                children
                    .split_whitespace()
                    .filter_map(|word| word.parse::<u32>().ok()),
            );
        }
        seen += 1;
    }
    all
}

/// Returns the processor time of all living threads of processes.
pub(crate) fn processor_time(processes: &[u32]) -> Duration {
    let mut nanos = 0;
    for process in processes {
        let tasks = fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten();
        for task in tasks.flatten() {
            let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            nanos += first_number(&text);
        }
    }
    Duration::from_nanos(nanos)
}

/// Memory of processes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Each page divided by those who share it.
    pub(crate) proportional: u64,
    /// Pages that are there, shared ones counted for each.
    pub(crate) resident: u64,
}

/// Returns the memory of processes.
pub(crate) fn memory(processes: &[u32]) -> Memory {
    let mut memory = Memory::default();
    for process in processes {
        let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
        let part = parse_rollup(&text.unwrap_or_default());
        memory.proportional += part.proportional;
        memory.resident += part.resident;
    }
    memory
}

/// Reads `smaps_rollup`, whose numbers are in KiB.
fn parse_rollup(text: &str) -> Memory {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, first_number) * 1024
    };
    Memory {
        proportional: field("Pss:"),
        resident: field("Rss:"),
    }
}

fn first_number(text: &str) -> u64 {
    let word = text.split_whitespace().next();
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rollup_is_read_by_its_names() {
        let text = "00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss:       1200 kB\n\
                    Pss:        900 kB\nPss_Anon:    11 kB\n";
        let expected = Memory {
            proportional: 900 * 1024,
            resident: 1200 * 1024,
        };
        assert_eq!(parse_rollup(text), expected);
        assert_eq!(parse_rollup(""), Memory::default());
    }

    #[test]
    fn this_process_is_of_its_own_family_and_has_used_time() {
        let own = std::process::id();
        assert!(family(own).contains(&own));
        let mut spent = 0_u64;
        while processor_time(&[own]) == Duration::ZERO {
            spent = spent.wrapping_add(1);
        }
        assert!(memory(&[own]).resident > 0, "{spent}");
    }

    #[test]
    fn who_is_gone_has_nothing() {
        // Above the largest number that the system gives.
        let nobody = [u32::MAX];
        assert_eq!(processor_time(&nobody), Duration::ZERO);
        assert_eq!(memory(&nobody), Memory::default());
    }
}
