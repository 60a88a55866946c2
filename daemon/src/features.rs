//! `ns feature` and `ns mode`: what an appliance switches as a whole, and what of it is here.
//!
//! Nothing is kept: what is here is always on, and the rest cannot be had.

use sluice_command::table::{self, Kind};
use sluice_command::{Command, Fault, Key, Noun, Value, Verb, catalogue};

/// Answers `show ns feature|mode` with the lines of the reference.
pub(crate) fn show(noun: Noun) -> Vec<String> {
    let title = if noun == Noun::NsMode {
        "Mode"
    } else {
        "Feature"
    };
    let head = [title, "Acronym", "Status"];
    let rule = head.map(|word| "-".repeat(word.len()));
    let mut lines = vec![
        line("", head[0], head[1], head[2]),
        line("", &rule[0], &rule[1], &rule[2]),
    ];
    for (index, (word, name)) in words(noun).iter().enumerate() {
        let status = if is_on(word) { "ON" } else { "OFF" };
        lines.push(line(&format!("{:>2})", index + 1), name, word, status));
    }
    lines
}

/// Carries out `enable|disable ns feature|mode`, which changes nothing.
///
/// # Errors
/// A word is not as it is to be.
pub(crate) fn switch(command: &Command) -> Result<(), Fault> {
    let key = if command.noun == Noun::NsMode {
        Key::NsMode
    } else {
        Key::Feature
    };
    let values = command.arg(key).map_or(&[][..], |arg| &arg.values);
    let wants_on = command.verb == Verb::Enable;
    match values
        .iter()
        .filter_map(Value::text)
        .find(|word| is_on(word) != wants_on)
    {
        None => Ok(()),
        Some(word) if wants_on => Err(Fault::new(catalogue::NOT_SUPPORTED)
            .with_details(word)
            .with_hint("what is here balances connections and datagrams, and is always on: LB")),
        Some(word) => Err(Fault::new(catalogue::NOT_PERMITTED)
            .with_details(word)
            .with_hint("it is always on here")),
    }
}

fn line(number: &str, name: &str, word: &str, status: &str) -> String {
    format!("{number:<8}{name:<31}{word:<21}{status}")
}

/// Returns the words of the table and what they mean, in its order.
fn words(noun: Noun) -> &'static [(&'static str, &'static str)] {
    let spec = table::spec(Verb::Enable, noun).and_then(|spec| spec.positionals.first());
    match spec.map(|slot| slot.arg.kind) {
        Some(Kind::Choice(choices)) => choices.allowed,
        Some(_) | None => &[],
    }
}

/// Connections to services leave from an address of the host (USNIP), whose system finds the size
/// of packets (PMTUD).
fn is_on(word: &str) -> bool {
    matches!(word, "LB" | "USNIP" | "PMTUD")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_command::parse;

    fn switched(line: &str) -> Result<(), String> {
        let command = parse(line).unwrap().unwrap();
        switch(&command).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_is_here_is_on_and_stays_on() {
        let lines = show(Noun::NsFeature);
        assert_eq!(
            lines[0],
            "        Feature                        Acronym              Status"
        );
        assert_eq!(
            lines[1],
            "        -------                        -------              ------"
        );
        assert_eq!(
            lines[4],
            " 3)     Load Balancing                 LB                   ON"
        );
        let on = |noun| {
            show(noun)
                .iter()
                .filter(|line| line.ends_with(" ON"))
                .count()
        };
        assert_eq!((on(Noun::NsFeature), on(Noun::NsMode)), (1, 2));
    }

    #[test]
    fn what_is_not_here_is_refused_in_clear_words() {
        assert_eq!(switched("enable ns feature LB"), Ok(()));
        assert_eq!(switched("enable feature loadbalancing"), Ok(()));
        assert_eq!(switched("disable ns feature CS ssl"), Ok(()));
        assert_eq!(
            switched("enable ns feature lb cs"),
            Err("Feature not supported in this release [CS]".to_owned())
        );
        assert_eq!(
            switched("disable ns feature LB"),
            Err("Operation not permitted [LB]".to_owned())
        );
        assert_eq!(switched("enable ns mode USNIP PMTUD"), Ok(()));
        assert_eq!(
            switched("enable ns mode usip"),
            Err("Feature not supported in this release [USIP]".to_owned())
        );
    }
}
