//! The file of earlier commands.
//!
//! It is private (0600, in a folder of its own), each command is added as it is run, and sessions
//! that run side by side add to the same file. A history that cannot be kept never stops the shell.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most commands that are kept.
pub(crate) const HISTORY_MAX: usize = 1000;

/// Returns the place of the history by the XDG base directory specification; `None` without a home.
pub(crate) fn path() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    path_in(folder("XDG_STATE_HOME"), folder("HOME"))
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

fn path_in(state_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    state_home
        .or_else(|| home.map(|home| home.join(".local/state")))
        .map(|folder| folder.join("sluice/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_comes_before_home() {
        let home = || Some(PathBuf::from("/home/ann"));
        assert_eq!(
            path_in(Some(PathBuf::from("/s")), home()),
            Some(PathBuf::from("/s/sluice/history"))
        );
        assert_eq!(
            path_in(None, home()),
            Some(PathBuf::from("/home/ann/.local/state/sluice/history"))
        );
        assert_eq!(path_in(None, None), None);
    }
}
