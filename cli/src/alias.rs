//! Names for commands: `alias`, `unalias`, and what they do to a line that is typed.
//!
//! They are kept in a file of the user's, one `alias` command a line. It is read anew each time, so
//! that sessions side by side agree, and replaced as a whole, under a lock of its folder. A line of
//! it that is no alias is left as it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sluice_command::{Fault, Key, Value, Verb, catalogue, masked, parse, quote, table};

use crate::escape::escape;
use crate::folder;

/// The aliases of a user.
#[derive(Clone, Debug)]
pub(crate) struct Aliases {
    /// `None` where the user has no home: then there are none, and none can be made.
    path: Option<PathBuf>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Alias { name: String, text: String },
    Other(String),
}

impl Aliases {
    /// Keeps them at `path`.
    pub(crate) fn at(path: Option<PathBuf>) -> Self {
        Self { path }
    }

    /// Returns what `alias` prints: all, or the one with that name.
    ///
    /// # Errors
    /// The file cannot be read, or there is no such alias.
    pub(crate) fn text(&self, name: Option<&str>) -> Result<String, Fault> {
        let lines = self.read()?;
        let mut text = String::new();
        for (alias, command) in lines.iter().filter_map(Line::alias) {
            if name.is_none_or(|name| name == alias) {
                text.push_str(&format!("\t{}\t({})\n", escape(alias), escape(command)));
            }
        }
        match name {
            Some(name) if text.is_empty() => Err(no_such(name)),
            Some(_) | None => Ok(text),
        }
    }

    /// Makes an alias.
    ///
    /// # Errors
    /// 1152, 1154, 1072 if there are too many, or it cannot be kept.
    pub(crate) fn define(&self, name: &str, text: &str) -> Result<(), Fault> {
        check(name, text)?;
        self.change(|lines| {
            if find(lines, name).is_some() {
                return Err(Fault::new(catalogue::ALIAS_EXISTS)
                    .with_details(name)
                    .with_hint(format!("unalias {} takes it away", quote(name))));
            }
            if lines.len() >= ALIASES_MAX {
                let details = format!("{ALIASES_MAX} aliases");
                return Err(Fault::new(catalogue::LIMIT_REACHED).with_details(details));
            }
            lines.push(Line::Alias {
                name: name.to_owned(),
                text: text.to_owned(),
            });
            Ok(())
        })
    }

    /// Takes an alias away.
    ///
    /// # Errors
    /// 1153, or the file cannot be written.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Fault> {
        self.change(|lines| {
            let index = find(lines, name).ok_or_else(|| no_such(name))?;
            lines.remove(index);
            Ok(())
        })
    }

    /// Returns what a typed line stands for, if its first word is an alias; what comes of that may
    /// begin with another one.
    pub(crate) fn expand(&self, line: &str) -> Option<String> {
        // Aliases that cannot be read are none.
        let lines = self.read().ok()?;
        let mut used: Vec<usize> = Vec::new();
        let mut expanded: Option<String> = None;
        loop {
            let line = expanded.as_deref().unwrap_or(line).trim_start();
            let word = line.split([' ', '\t']).next().unwrap_or_default();
            let found = find(&lines, word).filter(|index| !used.contains(index));
            let Some(index) = found else {
                return expanded;
            };
            let (_, text) = lines[index].alias()?;
            expanded = Some(format!("{text}{}", &line[word.len()..]));
            used.push(index);
        }
    }

    fn read(&self) -> Result<Vec<Line>, Fault> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        read(path).map_err(|error| unkept(&error))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Line>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let path = self.path.as_deref();
        let path = path.ok_or_else(|| unkept(&io::Error::other("there is no home folder")))?;
        folder::prepare(path).map_err(|error| unkept(&error))?;
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        let lock = File::open(folder).map_err(|error| unkept(&error))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| unkept(&error.into()))?;
        let mut lines = self.read()?;
        change(&mut lines)?;
        write(path, &lines)
            .and_then(|()| lock.sync_all())
            .map_err(|error| unkept(&error))
    }
}

impl Line {
    fn of(text: &str) -> Self {
        if let Ok(Some(command)) = parse(text)
            && command.verb == Verb::Alias
            && let Some(words) = command.arg(Key::Words)
            && let [Value::Text(name), Value::Text(command)] = words.values.as_slice()
        {
            return Self::Alias {
                name: name.clone(),
                text: command.clone(),
            };
        }
        Self::Other(text.to_owned())
    }

    fn alias(&self) -> Option<(&str, &str)> {
        match self {
            Self::Alias { name, text } => Some((name, text)),
            Self::Other(_) => None,
        }
    }
}

fn find(lines: &[Line], name: &str) -> Option<usize> {
    lines
        .iter()
        .position(|line| line.alias().is_some_and(|(alias, _)| alias == name))
}

/// Refuses what could not be typed, would hide a command, or keeps a secret.
fn check(name: &str, text: &str) -> Result<(), Fault> {
    let refused = |hint: &str| {
        Err(Fault::new(catalogue::INVALID_ALIAS)
            .with_details(name)
            .with_hint(hint))
    };
    if name.starts_with('^') {
        return Err(Fault::new(catalogue::REGEX_NOT_ALLOWED)
            .with_details(name)
            .with_hint("an alias is a word"));
    }
    if name.len() > NAME_MAX {
        return refused(&format!("a name has at most {NAME_MAX} bytes"));
    }
    if !name
        .chars()
        .all(|c| c.is_alphanumeric() || "_.-".contains(c))
        || name.starts_with('-')
    {
        return refused("an alias is a word of letters, digits, '_', '.' and '-'");
    }
    let mut verbs = table::VERBS.iter();
    if verbs.any(|(_, word)| word.eq_ignore_ascii_case(name)) {
        return refused("it is a command already");
    }
    if masked(text) != text {
        return refused("it would keep a secret");
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<Vec<Line>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(text.lines().map(Line::of).collect())
}

/// Replaces the file by one that is complete, whenever the power goes.
fn write(path: &Path, lines: &[Line]) -> io::Result<()> {
    let text: String = lines
        .iter()
        .map(|line| match line {
            Line::Alias { name, text } => format!("alias {} {}\n", quote(name), quote(text)),
            Line::Other(text) => format!("{text}\n"),
        })
        .collect();
    let new = path.with_extension("new");
    // What another one left there is not ours to add to.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn no_such(name: &str) -> Fault {
    Fault::new(catalogue::NO_SUCH_ALIAS).with_details(name)
}

fn unkept(error: &io::Error) -> Fault {
    Fault::new(catalogue::ALIASES_UNKEPT).with_details(error.to_string())
}

/// The longest name: it is there to be short.
const NAME_MAX: usize = 31;

/// More are no help to anybody.
const ALIASES_MAX: usize = 1000;

/// A thousand of the longest.
const BYTES_MAX: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn aliases(folder: &tempfile::TempDir) -> Aliases {
        Aliases::at(Some(folder.path().join("sluice/aliases")))
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn an_alias_outlasts_its_session_and_is_listed_until_it_is_taken_away() {
        let folder = folder();
        aliases(&folder).define("info", "show ns version").unwrap();
        aliases(&folder).define("o", "show server \"o o\"").unwrap();
        let all = "\tinfo\t(show ns version)\n\to\t(show server \"o o\")\n";
        assert_eq!(aliases(&folder).text(None).unwrap(), all);
        let one = aliases(&folder).text(Some("o")).unwrap();
        assert_eq!(one, "\to\t(show server \"o o\")\n");
        let code = |result: Result<(), Fault>| result.unwrap_err().code;
        assert_eq!(code(aliases(&folder).define("o", "show server")), 1154);
        aliases(&folder).remove("o").unwrap();
        assert_eq!(code(aliases(&folder).remove("o")), 1153);
        assert_eq!(aliases(&folder).text(Some("o")).unwrap_err().code, 1153);
    }

    #[test]
    fn a_line_that_begins_with_an_alias_is_what_that_stands_for() {
        let folder = folder();
        let aliases = aliases(&folder);
        aliases.define("sl", "show lb").unwrap();
        aliases.define("slv", "sl vserver").unwrap();
        let expand = |line: &str| aliases.expand(line);
        assert_eq!(expand(" sl  group").as_deref(), Some("show lb  group"));
        assert_eq!(expand("slv v1").as_deref(), Some("show lb vserver v1"));
        assert_eq!(expand("slx v1"), None);
        assert_eq!(expand("show sl"), None);
        assert_eq!(expand("\"sl\" group"), None);
    }

    #[test]
    fn aliases_of_each_other_end() {
        let folder = folder();
        let aliases = aliases(&folder);
        aliases.define("a1", "a2 x").unwrap();
        aliases.define("a2", "a1 y").unwrap();
        assert_eq!(aliases.expand("a1 z").as_deref(), Some("a1 y x z"));
        aliases.define("a3", "a3").unwrap();
        assert_eq!(aliases.expand("a3").as_deref(), Some("a3"));
    }

    #[test]
    fn what_cannot_be_an_alias_is_refused_and_nothing_is_written() {
        let folder = folder();
        let aliases = aliases(&folder);
        for (name, text, code) in [
            ("show", "stat server", 1152),
            ("SHOW", "stat server", 1152),
            ("a b", "stat server", 1152),
            ("?", "help", 1152),
            ("^s", "show server", 1138),
            ("p", "set lb parameter -cookiePassphrase x", 1152),
        ] {
            assert_eq!(aliases.define(name, text).unwrap_err().code, code, "{name}");
        }
        assert!(!folder.path().join("sluice").exists());
        let homeless = Aliases::at(None);
        assert_eq!(
            homeless.define("a", "show server").unwrap_err().code,
            10_204
        );
        assert_eq!(homeless.text(None).unwrap(), "");
    }

    #[test]
    fn what_somebody_else_wrote_into_the_file_stays() {
        let folder = folder();
        fs::create_dir(folder.path().join("sluice")).unwrap();
        let path = folder.path().join("sluice/aliases");
        fs::write(&path, "# mine\nalias a \"show server\"\nnot one\n").unwrap();
        let aliases = aliases(&folder);
        aliases.define("b", "stat server").unwrap();
        aliases.remove("a").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# mine\nnot one\nalias b \"stat server\"\n");
    }
}
