//! LOAD: an agent on the server says in a line how it is.
//!
//! The agent is asked by connecting; it answers with words, ended by a line feed or the end of the
//! connection, as agents for other balancers do (HAProxy's documentation, "agent-check"): a
//! percentage is the share of its usual work that it wants, `up` and `ready` say that it serves,
//! `drain` and `maint` that it goes out of service, `down`, `fail` and `stopped` that it does not
//! serve; text behind `#` says why. Other words of that language set what a monitor does not set
//! here.

use std::net::SocketAddr;

use crate::Probe;
use crate::seen::{Ended, Seen};
use crate::stream::{PIECE, Stream};

/// LOAD: the agent says that it serves, or how much.
pub(crate) async fn reports(probe: &Probe, service: SocketAddr, seen: &mut Seen) -> Ended {
    converse(probe, service, seen)
        .await
        .unwrap_or_else(|ended| ended)
}

async fn converse(probe: &Probe, service: SocketAddr, seen: &mut Seen) -> Result<Ended, Ended> {
    let mut stream = Stream::connect(probe, service, seen).await?;
    seen.compared = "a percentage, up, ready, drain, maint, down, fail or stopped".to_owned();
    seen.waits_for(Ended::failed("Probe timed out: the agent says nothing"));
    let mut line = Vec::new();
    let mut buffer = [0; PIECE];
    loop {
        let piece = stream.receive(&mut buffer, seen).await?;
        line.extend(piece);
        let end = line.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        if end.is_some() || piece.is_empty() {
            line.truncate(end.unwrap_or(line.len()));
            return Ok(judge(&line));
        }
        if line.len() > LONGEST_LINE {
            return Err(Ended::failed("The agent says more than a line"));
        }
    }
}

/// Says what a line of an agent means; the worst word of several counts.
fn judge(line: &[u8]) -> Ended {
    let line = String::from_utf8_lossy(line);
    let (words, why) = line.split_once('#').unwrap_or((&line, ""));
    let why = why.chars().filter(|char| !char.is_control());
    let why = why.collect::<String>();
    let why = match why.trim().trim_end_matches('.') {
        "" => String::new(),
        text => format!(": {text}"),
    };
    let words = words.split(|char: char| char.is_ascii_whitespace() || char == ',');
    let words: Vec<_> = words.map(str::to_ascii_lowercase).collect();
    let said = |known: &[&'static str]| {
        let mut known = known.iter();
        known
            .find(|word| words.iter().any(|said| said == *word))
            .copied()
    };
    if let Some(word) = said(&["down", "fail", "failed", "stopped"]) {
        return Ended::failed(format!("The agent says {word}{why}"));
    }
    if let Some(word) = said(&["drain", "maint"]) {
        return Ended::out_of_service(format!("The agent says {word}{why}"));
    }
    let share = words.iter().find_map(|word| {
        let digits = word.strip_suffix('%')?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u64>().ok())?
    });
    if let Some(share) = share {
        return Ended::passed(format!("The agent says {share}%{why}"))
            .with_load(Some(100_u64.saturating_sub(share)));
    }
    match said(&["up", "ready"]) {
        Some(word) => Ended::passed(format!("The agent says {word}{why}")),
        None => Ended::failed("The agent says nothing that is known"),
    }
}

/// What agents say has a few words and a reason.
const LONGEST_LINE: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn line_of_an_agent_says_state_and_load() {
        use Outcome::{Failed, OutOfService, Passed};
        let table = [
            ("75%", Passed, Some(25), "Success - The agent says 75%."),
            ("up 100%", Passed, Some(0), "Success - The agent says 100%."),
            ("150%", Passed, Some(0), "Success - The agent says 150%."),
            (
                "0%\0",
                Failed,
                None,
                "Failure - The agent says nothing that is known.",
            ),
            ("READY", Passed, None, "Success - The agent says ready."),
            ("up,maxconn:3", Passed, None, "Success - The agent says up."),
            (
                "50% drain",
                OutOfService,
                None,
                "Success - The agent says drain.",
            ),
            (
                "maint # new disk.",
                OutOfService,
                None,
                "Success - The agent says maint: new disk.",
            ),
            (
                "up down#no db",
                Failed,
                None,
                "Failure - The agent says down: no db.",
            ),
            (
                "",
                Failed,
                None,
                "Failure - The agent says nothing that is known.",
            ),
            (
                "%",
                Failed,
                None,
                "Failure - The agent says nothing that is known.",
            ),
            (
                "-5%",
                Failed,
                None,
                "Failure - The agent says nothing that is known.",
            ),
            (
                "99999999999999999999%",
                Failed,
                None,
                "Failure - The agent says nothing that is known.",
            ),
        ];
        for (line, outcome, load, text) in table {
            let report = Seen::new().report(judge(line.as_bytes()));
            assert_eq!(
                (report.outcome, report.load, report.text.as_str()),
                (outcome, load, text),
                "{line}"
            );
        }
    }
}
