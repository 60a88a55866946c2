//! Where the shell keeps what outlasts a session: folders of the user's own, by the XDG base
//! directory specification, and files that nobody else can read.

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Returns the place of the history; `None` without a home.
pub(crate) fn history() -> Option<PathBuf> {
    path("XDG_STATE_HOME", ".local/state", "history", &|name| {
        std::env::var_os(name)
    })
}

/// Returns the place of the aliases; `None` without a home.
pub(crate) fn aliases() -> Option<PathBuf> {
    path("XDG_DATA_HOME", ".local/share", "aliases", &|name| {
        std::env::var_os(name)
    })
}

/// Makes the file, empty and private, unless it exists: two first sessions then both find one.
///
/// # Errors
/// The folder or the file cannot be made.
pub(crate) fn prepare(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    Ok(())
}

fn path(
    variable: &str,
    below_home: &str,
    file: &str,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let folder = |name: &str| {
        environment(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    folder(variable)
        .or_else(|| folder("HOME").map(|home| home.join(below_home)))
        .map(|folder| folder.join("sluice").join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_folder_comes_before_home_and_must_be_absolute() {
        let place = |state: Option<&str>, home: Option<&str>| {
            path("STATE", ".local/state", "history", &|name| {
                let value = if name == "STATE" { state } else { home };
                value.map(OsString::from)
            })
        };
        assert_eq!(
            place(Some("/s"), Some("/home/ann")),
            Some(PathBuf::from("/s/sluice/history"))
        );
        let below_home = Some(PathBuf::from("/home/ann/.local/state/sluice/history"));
        assert_eq!(place(None, Some("/home/ann")), below_home);
        assert_eq!(place(Some("s"), Some("/home/ann")), below_home);
        assert_eq!(place(None, None), None);
    }
}
