//! `show ns savedConfig`, `diff ns config` and `show ns rollbackcmd`: what needs the configuration file or
//! an earlier version of it.

use std::path::PathBuf;

use sluice_command::{Command, Fault, Key, Noun, Value, Verb, catalogue, render};
use sluice_config::{Config, Difference};
use sluice_protocol::{Reply, Row};

use crate::ns_conf::NsConf;
use crate::saver::Content;

/// The configurations that are in no file.
#[derive(Debug)]
pub(crate) struct Live<'a> {
    /// The one in force.
    pub(crate) running: &'a Config,
    /// The one before provisional changes, if there are such.
    pub(crate) confirmed: Option<&'a Config>,
    /// How long these can be confirmed.
    pub(crate) provisional_s: Option<u64>,
}

impl Live<'_> {
    fn named(&self, name: &str) -> Option<&Config> {
        match name {
            "running" => Some(self.running),
            "confirmed" => Some(self.confirmed.unwrap_or(self.running)),
            _ => None,
        }
    }
}

/// Returns the files that have to be read to answer a command, in the order in which it names them.
pub(crate) fn paths(command: &Command, ns_conf: &NsConf, live: &Live<'_>) -> Vec<PathBuf> {
    let names = names(command, live);
    names
        .into_iter()
        .filter_map(|name| ns_conf.path_of(name))
        .collect()
}

/// Answers a command; `files` are those of [`paths`].
///
/// # Errors
/// An earlier version is not there.
pub(crate) fn answer(
    command: &Command,
    live: &Live<'_>,
    files: Vec<Content>,
) -> Result<Vec<Reply>, Fault> {
    if command.arg(Key::Template).is_some() {
        return Err(Fault::new(catalogue::NOT_SUPPORTED)
            .with_details("template")
            .with_hint("name two configurations: diff ns config saved running"));
    }
    let mut files = files.into_iter();
    let mut configs = Vec::new();
    let mut replies = Vec::new();
    if let Some(seconds) = live.provisional_s {
        let text = format!("changes are provisional: undone in {seconds} s unless confirmed");
        replies.extend(is_about_changes(command).then_some(Reply::Warning(text)));
    }
    for name in names(command, live) {
        if let Some(config) = live.named(name) {
            configs.push(config.clone());
            continue;
        }
        let file = files.next().ok_or_else(|| missing(name))?;
        if command.verb == Verb::Show && command.noun != Noun::NsRollbackCommand {
            return Ok(text(&file.bytes.unwrap_or_default()));
        }
        // A configuration that was never saved is an empty one.
        if file.bytes.is_none() && name != "saved" {
            return Err(missing(name));
        }
        if file.failed > 0 {
            let failed = file.failed;
            let warning = format!("{failed} lines of {name} do not load and are not compared");
            replies.push(Reply::Warning(warning));
        }
        configs.push(file.config);
    }
    let [first, second] = configs.as_slice() else {
        return Err(Fault::new(catalogue::TOO_MANY_VALUES).with_details("config, 2 at most"));
    };
    if command.noun == Noun::NsRollbackCommand {
        let way = second.way_to(first);
        replies.extend(way.commands.iter().map(|command| line(render(command))));
    } else {
        replies.extend(first.differences(second).into_iter().map(difference));
    }
    Ok(replies)
}

/// Returns the configurations a command is about.
fn names<'a>(command: &'a Command, live: &Live<'_>) -> Vec<&'a str> {
    if command.verb == Verb::Diff {
        let given = command.arg(Key::Configs).into_iter();
        let mut names: Vec<&str> = given
            .flat_map(|arg| arg.values.iter().filter_map(Value::text))
            .collect();
        let left_out = ["saved", "running"].into_iter().skip(names.len());
        names.extend(left_out);
        names
    } else if command.noun == Noun::NsRollbackCommand {
        let back = live.confirmed.map_or("saved", |_| "confirmed");
        vec![back, "running"]
    } else if matches!(command.noun, Noun::NsSavedConfig | Noun::NsConf) {
        vec!["saved"]
    } else {
        Vec::new()
    }
}

fn is_about_changes(command: &Command) -> bool {
    command.verb == Verb::Diff || command.noun == Noun::NsRollbackCommand
}

fn difference(difference: Difference) -> Reply {
    line(match difference {
        Difference::First(text) => format!("- {text}"),
        Difference::Second(text) => format!("+ {text}"),
    })
}

/// Returns the lines of a file as they stand there, but for bytes that are no text.
fn text(bytes: &[u8]) -> Vec<Reply> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    text.lines().map(|text| line(text.to_owned())).collect()
}

fn line(text: String) -> Reply {
    Reply::Row(Box::new(Row::Line(text)))
}

fn missing(name: &str) -> Fault {
    Fault::new(catalogue::NO_SUCH_FILE).with_details(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_command::parse;
    use sluice_config::load_file;

    fn config(text: &str) -> Config {
        load_file(text.as_bytes()).0
    }

    fn content(text: Option<&str>) -> Content {
        let (config, report) = load_file(text.unwrap_or_default().as_bytes());
        Content {
            bytes: text.map(|text| text.as_bytes().to_vec()),
            config,
            failed: report.failed(),
        }
    }

    /// What a command says, line by line.
    fn said(command: &str, running: &Config, files: Vec<Content>) -> Vec<String> {
        let command = parse(command).unwrap().unwrap();
        let live = Live {
            running,
            confirmed: None,
            provisional_s: None,
        };
        heard(answer(&command, &live, files))
    }

    fn heard(answer: Result<Vec<Reply>, Fault>) -> Vec<String> {
        match answer {
            Err(fault) => vec![format!("ERROR: {fault}")],
            Ok(replies) => {
                let text = |reply| match reply {
                    Reply::Warning(text) => format!("Warning: {text}"),
                    Reply::Row(row) => match *row {
                        Row::Line(text) => text,
                        other => panic!("{other:?}"),
                    },
                    other => panic!("{other:?}"),
                };
                replies.into_iter().map(text).collect()
            }
        }
    }

    #[test]
    fn what_differs_is_listed_with_its_side() {
        let running = config("add server a 10.0.0.1\nadd server c 10.0.0.3\n");
        let saved = "add server b 10.0.0.2\nadd server a 10.0.0.1\nnosuch\n";
        let warning = "Warning: 1 lines of saved do not load and are not compared";
        let files = || vec![content(Some(saved))];
        let (minus, plus) = ("- add server b 10.0.0.2", "+ add server c 10.0.0.3");
        assert_eq!(
            said("diff ns config", &running, files()),
            [warning, minus, plus]
        );
        assert_eq!(
            said("diff ns config running ns.conf", &running, files()),
            [
                warning,
                "- add server c 10.0.0.3",
                "+ add server b 10.0.0.2"
            ]
        );
        let both = vec![content(Some("add server b 10.0.0.2")), content(Some(""))];
        assert_eq!(
            said("diff ns config ns.conf.3 ns.conf.4", &running, both),
            [minus]
        );
        assert!(said("diff ns config running running", &running, Vec::new()).is_empty());
        assert_eq!(
            said("show ns rollbackcmd", &running, files()),
            [warning, "rm server c", "add server b 10.0.0.2"]
        );
    }

    #[test]
    fn what_was_never_saved_is_empty_and_an_earlier_file_that_is_not_there_an_error() {
        let running = config("add server a 10.0.0.1");
        let line = "+ add server a 10.0.0.1";
        assert_eq!(
            said("diff ns config", &running, vec![content(None)]),
            [line]
        );
        assert!(said("show ns savedConfig", &running, vec![content(None)]).is_empty());
        assert_eq!(
            said("diff ns config ns.conf.2", &running, vec![content(None)]),
            ["ERROR: No such file [ns.conf.2]"]
        );
    }

    #[test]
    fn provisional_changes_are_told_and_compared_with_what_was_before() {
        let (running, before) = (
            config("add server b 10.0.0.2"),
            config("add server a 10.0.0.1"),
        );
        let live = Live {
            running: &running,
            confirmed: Some(&before),
            provisional_s: Some(9),
        };
        let warning = "Warning: changes are provisional: undone in 9 s unless confirmed";
        for (line, expected) in [
            (
                "diff ns config confirmed",
                ["- add server a 10.0.0.1", "+ add server b 10.0.0.2"],
            ),
            (
                "show ns rollbackcmd",
                ["rm server b", "add server a 10.0.0.1"],
            ),
        ] {
            let command = parse(line).unwrap().unwrap();
            let said = heard(answer(&command, &live, Vec::new()));
            assert_eq!(said, [&[warning], &expected[..]].concat(), "{line}");
        }
    }

    #[test]
    fn the_file_is_shown_as_it_stands() {
        let text = "\u{feff}# mine\r\n\tadd  server a 10.0.0.1\n\nnosuch";
        assert_eq!(
            said("show ns ns.conf", &Config::new(), vec![content(Some(text))]),
            ["# mine", "\tadd  server a 10.0.0.1", "", "nosuch"]
        );
    }
}
