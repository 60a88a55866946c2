//! The settings of a session: `set|unset|show cli mode`. They end with it.

use sluice_command::table::{self, ArgSpec, Effect};
use sluice_command::{Command, Key, Noun, Value, Verb};

/// What was set, by the rows of the table; what was not has its default.
#[derive(Clone, Debug, Default)]
pub(crate) struct CliMode {
    set: Vec<(Key, Value)>,
}

impl CliMode {
    /// Carries out `set` or `unset`. Returns the warnings about what has no effect here.
    pub(crate) fn change(&mut self, command: &Command) -> Vec<String> {
        let mut warnings = Vec::new();
        for arg in &command.args {
            self.set.retain(|(key, _)| *key != arg.key);
            let row = row(arg.key);
            let value = arg.values.first();
            if command.verb != Verb::Set || value == row.default.value("").as_ref() {
                continue;
            }
            if let Effect::NoEffect(why) = row.effect {
                warnings.push(format!("-{} has no effect here [{why}]", row.spelling));
            }
            self.set.extend(value.map(|value| (arg.key, value.clone())));
        }
        warnings
    }

    /// Tells whether a setting of `ON` and `OFF` is on.
    pub(crate) fn is_on(&self, key: Key) -> bool {
        matches!(self.value(row(key)), Some(Value::Choice(word)) if word == "ON")
    }

    /// Returns what `show cli mode` prints.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for row in table::options(Noun::CliMode) {
            let value = match self.value(row) {
                Some(Value::Text(text) | Value::Choice(text)) => text,
                Some(Value::Integer(number)) => number.to_string(),
                Some(Value::Address(_) | Value::AnyAddress | Value::Port(_) | Value::AnyPort)
                | None => String::new(),
            };
            let note = match row.effect {
                Effect::Works => "",
                Effect::NoEffect(_) => "  (no effect here)",
            };
            text.push_str(&format!("\t{}: {value}{note}\n", row.spelling));
        }
        text
    }

    fn value(&self, row: &ArgSpec) -> Option<Value> {
        let set = self.set.iter().find(|(key, _)| *key == row.key);
        set.map_or_else(|| row.default.value(""), |(_, value)| Some(value.clone()))
    }
}

fn row(key: Key) -> &'static ArgSpec {
    let mut rows = table::options(Noun::CliMode).iter();
    rows.find(|row| row.key == key)
        .expect("a command has the arguments of its table")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(mode: &mut CliMode, line: &str) -> Vec<String> {
        mode.change(&sluice_command::parse(line).unwrap().unwrap())
    }

    #[test]
    fn a_setting_lasts_until_it_is_unset_and_one_without_effect_says_so() {
        let mut mode = CliMode::default();
        assert!(!mode.is_on(Key::Total) && !mode.is_on(Key::Color));
        assert_eq!(
            change(&mut mode, "set cli mode -total ON -page ON -timeout 900"),
            ["-page has no effect here [the terminal scrolls, and grep shortens]"]
        );
        assert!(mode.is_on(Key::Total));
        assert_eq!(
            mode.text(),
            "\tpage: ON  (no effect here)\n\ttotal: ON\n\tcolor: OFF\n\
             \tdisabledFeatureAction: ALLOW  (no effect here)\n\
             \ttimeout: 900  (no effect here)\n\tregex: ON  (no effect here)\n"
        );
        assert!(change(&mut mode, "unset cli mode -total -page").is_empty());
        assert!(!mode.is_on(Key::Total));
        assert!(mode.text().starts_with("\tpage: OFF "));
    }
}
