//! What holds of any bytes that are loaded as a configuration file. The body is for a fuzzer; the tests run
//! it over a corpus and its mutations.

use crate::{Config, Verdict, load_file};

/// Loads any bytes.
///
/// # Panics
/// What was loaded is another configuration when it is saved and loaded again, with its defaults or without,
/// or there is no way to it from nothing and back; or the report names a line that is not there.
pub fn file(bytes: &[u8]) {
    let (config, report) = load_file(bytes);
    let most = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let numbers = report.lines.iter().map(|line| line.number);
    assert!(numbers.clone().is_sorted_by(|before, after| before < after));
    assert!(numbers.max().is_none_or(|last| last <= most));
    let (failed, skipped) = (report.failed() as u64, report.skipped().total());
    assert!(failed + skipped + report.warned() as u64 <= report.lines.len() as u64);
    for saved in [config.render(), config.render_with_defaults()] {
        let (again, report) = load_file(saved.join("\n").as_bytes());
        for line in &report.lines {
            let is_done = matches!(line.verdict, Verdict::Done(_));
            assert!(is_done, "{}: {:?}", line.text, line.verdict);
        }
        assert_eq!(again, config, "{saved:?}");
    }
    let nothing = Config::new();
    for (from, to) in [(&nothing, &config), (&config, &nothing)] {
        let way = from.way_to(to);
        assert!(way.arrives, "{:?} to {:?}", from.render(), to.render());
        let mut reached = from.clone();
        reached.commit(way.plan);
        assert_eq!(reached.differences(to), []);
    }
}
