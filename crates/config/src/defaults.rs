//! The saved lines with everything in them that is at its default.

use sluice_command::{Arg, Command, Key, Noun, Verb, render, spec};

use crate::Config;
use crate::words::command as line;

impl Config {
    /// Returns the running configuration as commands that leave no default unsaid, in saved order.
    pub fn render_with_defaults(&self) -> Vec<String> {
        let mut commands = self.commands();
        if !commands
            .iter()
            .any(|command| command.noun == Noun::LbParameter)
        {
            let is_before = [
                Noun::NsTcpProfile,
                Noun::NetProfile,
                Noun::Server,
                Noun::Service,
                Noun::ServiceGroup,
            ];
            let after = |command: &Command| !is_before.contains(&command.noun);
            let place = commands.iter().position(after).unwrap_or(commands.len());
            let empty = line(Verb::Set, Noun::LbParameter, [], Vec::new());
            commands.insert(place, empty);
        }
        commands
            .iter()
            .map(with_defaults)
            .map(|command| render(&command))
            .collect()
    }
}

/// Returns a saved line with its options in the order of the table.
fn with_defaults(saved: &Command) -> Command {
    let service_type = saved.text(Key::ServiceType).unwrap_or_default();
    // A line that sets something of an object which another one has added says nothing of the rest.
    let is_later = saved.verb == Verb::Set && saved.arg(Key::Name).is_some();
    let Some(spec) = spec(saved.verb, saved.noun).filter(|_| !is_later) else {
        return saved.clone();
    };
    let positionals = saved
        .args
        .iter()
        .filter(|arg| spec.option(arg.key).is_none());
    let mut args: Vec<Arg> = positionals.cloned().collect();
    for row in spec.options() {
        let default = row.default.value(service_type).map(|value| Arg {
            key: row.key,
            values: vec![value],
        });
        args.extend(saved.arg(row.key).cloned().or(default));
        // The method in place of another is not that other; where its default would be, it is left unsaid.
        let method = args.iter().find(|arg| arg.key == Key::LbMethod);
        let method = method.map(|arg| arg.values.clone());
        args.retain(|arg| arg.key != Key::BackupLbMethod || Some(&arg.values) != method.as_ref());
    }
    Command {
        verb: saved.verb,
        noun: saved.noun,
        args,
    }
}
