//! Writing the configuration file so that it is at every moment either the old or the new one.
//!
//! The new text goes to a temporary file in the same folder, to the disk, and only then takes the old
//! file's name. Mode and owner of the old file stay. Earlier files are kept as `FILE.0` (the newest) to
//! `FILE.4`.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::hash::Hasher;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why the configuration was not saved. The file is what it was before.
#[derive(Debug, Error)]
pub(crate) enum SaveError {
    /// What stands at the path cannot be replaced by a file.
    #[error("{} is not a regular file", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    System {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// What stood in the place of a file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// No file, or one with the same text.
    Nothing,
    /// Another text.
    Other {
        /// Of that text.
        fingerprint: Fingerprint,
        /// Where it is now, if it could be kept.
        kept: Option<PathBuf>,
    },
}

/// Tells the text of a file from others, without keeping it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Of `text`.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(text);
        Self(hasher.finish())
    }
}

/// Replaces the file at `path` by one that holds `text`, or makes it with mode 0600.
///
/// A symbolic link stays one, and the file it names is replaced. A missing folder is made.
///
/// # Errors
/// [`SaveError`]; the old file, if any, is complete and in place.
pub(crate) fn write(path: &Path, text: &[u8]) -> Result<Replaced, SaveError> {
    let path = &real_path(path)?;
    let folder = folder_of(path);
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(SaveError::NotAFile {
            path: path.to_owned(),
        });
    }
    let (temporary, file) = create_temporary(path)?;
    let replaced = fill(&file, &temporary, text, old.as_ref()).and_then(|()| {
        let replaced = match old {
            Some(_) => keep_earlier(path, text),
            None => Replaced::Nothing,
        };
        fs::rename(&temporary, path).map_err(system("replace", path))?;
        Ok(replaced)
    });
    let replaced = replaced.inspect_err(|_| {
        // Best effort: what matters, the old file, has not been touched.
        let _ = fs::remove_file(&temporary);
    })?;
    // The new name must survive a power cut too.
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(system("sync", folder))?;
    Ok(replaced)
}

/// Follows symbolic links, also to a file that is still missing; makes the folder.
fn real_path(path: &Path) -> Result<PathBuf, SaveError> {
    match fs::canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system("find", path)(error)),
    }
    if let Ok(link) = fs::read_link(path) {
        return Ok(folder_of(path).join(link));
    }
    let folder = folder_of(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)
        .map_err(system("make the folder", folder))?;
    Ok(path.to_owned())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Makes an empty file of a name that nobody uses. Another daemon may be saving at this moment, and an
/// ended one may have left a file, so names are tried in turn and never taken over.
fn create_temporary(path: &Path) -> Result<(PathBuf, File), SaveError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let pid = std::process::id();
    let mut attempt = 0;
    loop {
        let temporary = beside(path, &format!(".{pid}-{attempt}.new"));
        match options.open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS_MAX =>
            {
                attempt += 1;
            }
            Err(error) => return Err(system("create", &temporary)(error)),
        }
    }
}

fn fill(
    mut file: &File,
    temporary: &Path,
    text: &[u8],
    old: Option<&fs::Metadata>,
) -> Result<(), SaveError> {
    file.write_all(text).map_err(system("write", temporary))?;
    if let Some(old) = old {
        let mode = keep_owner(file, temporary, old)?;
        // After the owner: a wide mode must not be in force under a wrong one.
        file.set_permissions(Permissions::from_mode(mode))
            .map_err(system("keep the mode for", temporary))?;
    }
    file.sync_all().map_err(system("write to disk", temporary))
}

/// Gives the new file the owner of the old one, and returns the mode it may then have.
///
/// An ordinary user cannot give a file to a group they are not in. The file is theirs all the same, so
/// it is saved; what the old group was allowed is then allowed to nobody.
fn keep_owner(file: &File, temporary: &Path, old: &fs::Metadata) -> Result<u32, SaveError> {
    let mode = old.mode() & 0o7777;
    let new = file.metadata().map_err(system("look at", temporary))?;
    if new.uid() != old.uid() {
        fchown(file, Some(old.uid()), None).map_err(system("keep the owner for", temporary))?;
    }
    if new.gid() != old.gid()
        && let Err(error) = fchown(file, None, Some(old.gid()))
    {
        tracing::warn!(
            "cannot keep group {}, its rights are dropped: {error}",
            old.gid()
        );
        return Ok(mode & !0o2070);
    }
    Ok(mode)
}

/// Moves the earlier copies up by one and makes the present file the newest of them. The present file
/// keeps its name meanwhile. A copy that cannot be kept is logged and stops nothing.
fn keep_earlier(path: &Path, text: &[u8]) -> Replaced {
    let fingerprint = match fs::read(path) {
        Ok(present) if present == text => return Replaced::Nothing,
        Ok(present) => Fingerprint::of(&present),
        Err(error) => {
            tracing::warn!("cannot read {}: {error}", path.display());
            return Replaced::Nothing;
        }
    };
    let kept = rotate(path);
    Replaced::Other { fingerprint, kept }
}

fn rotate(path: &Path) -> Option<PathBuf> {
    for number in (0..COPIES - 1).rev() {
        let from = beside(path, &format!(".{number}"));
        let to = beside(path, &format!(".{}", number + 1));
        if let Err(error) = fs::rename(&from, &to)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(
                "cannot rename {} to {}: {error}",
                from.display(),
                to.display()
            );
            return None;
        }
    }
    let newest = beside(path, ".0");
    if let Err(error) = fs::hard_link(path, &newest) {
        tracing::warn!("cannot keep a copy as {}: {error}", newest.display());
        return None;
    }
    Some(newest)
}

/// Returns where an earlier version of the file at `path` is kept; 0 is the newest.
pub(crate) fn earlier(path: &Path, number: usize) -> PathBuf {
    // The copies stand beside the file that a link names.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    beside(&real, &format!(".{number}"))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SaveError {
    let path = path.to_owned();
    move |source| SaveError::System {
        action,
        path,
        source,
    }
}

/// Earlier files kept; five, as on a NetScaler.
const COPIES: u32 = 5;

/// Left-over temporary files of ended daemons with our process id that are passed over.
const ATTEMPTS_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_is_private_and_its_folder_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("etc/sluice/ns.conf");
        write(&path, "one\n".as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert_eq!(names(path.parent().unwrap()), ["ns.conf"]);
    }

    #[test]
    fn mode_and_owner_of_the_file_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        fs::write(&path, "old\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Another owner can only be given, and so only be tested, by root.
        let _ = std::os::unix::fs::chown(&path, Some(1234), Some(1234));
        let before = fs::metadata(&path).unwrap();
        write(&path, "new\n".as_bytes()).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(
            (after.mode(), after.uid(), after.gid()),
            (before.mode(), before.uid(), before.gid())
        );
        assert_ne!(
            after.ino(),
            before.ino(),
            "the old file was replaced, not overwritten"
        );
    }

    #[test]
    fn five_earlier_files_are_kept_and_an_equal_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        for text in ["a", "b", "b", "c", "d", "e", "f", "g"] {
            write(&path, text.as_bytes()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("ns.conf"), "g");
        let earlier = [
            "ns.conf.0",
            "ns.conf.1",
            "ns.conf.2",
            "ns.conf.3",
            "ns.conf.4",
        ]
        .map(read);
        assert_eq!(earlier, ["f", "e", "d", "c", "b"]);
        assert_eq!(names(folder.path()).len(), 6);
    }

    #[test]
    fn a_link_stays_a_link_also_to_a_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        let link = folder.path().join("ns.conf");
        symlink("real", &link).unwrap();
        for text in ["one", "two"] {
            write(&link, text.as_bytes()).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&real).unwrap(), text);
        }
    }

    #[test]
    fn a_folder_at_the_path_is_refused_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        fs::create_dir(&path).unwrap();
        assert!(matches!(
            write(&path, "x".as_bytes()),
            Err(SaveError::NotAFile { .. })
        ));
        assert_eq!(names(folder.path()), ["ns.conf"]);
        assert!(path.is_dir());
    }

    #[test]
    fn a_read_only_folder_keeps_the_old_file() {
        if rustix::process::geteuid().is_root() {
            return; // Root writes everywhere; the disk-full test covers the same path.
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o500)).unwrap();
        let refused = write(&path, "new".as_bytes());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(matches!(
            refused,
            Err(SaveError::System {
                action: "create",
                ..
            })
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn a_left_over_temporary_file_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ns.conf");
        let left = beside(&path, &format!(".{}-0.new", std::process::id()));
        fs::write(&left, "half").unwrap();
        write(&path, "whole".as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_to_string(&left).unwrap(), "half");
    }
}
