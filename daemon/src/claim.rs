//! The control socket's file: claimed once, never taken from anybody, removed at the end.
//!
//! Two things guard the path. A lock file beside it, held as long as the daemon runs, decides among
//! daemons that start at one moment; it stays behind empty, because removing a lock file would let two
//! holders exist. Then the path itself is looked at: only a socket behind which nobody listens is
//! replaced. Everything else at the path is refused and left as it is.
//!
//! The socket has mode 0600 from its first moment: Linux takes the mode of a bound socket's file from
//! the descriptor, so that setting it there needs no change of the process-wide umask.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

/// Why the control socket cannot be had.
#[derive(Debug, Error)]
pub(crate) enum ClaimError {
    /// Another daemon holds the lock, or somebody listens on the socket.
    #[error("a daemon already listens on {}", .path.display())]
    Live {
        /// The socket.
        path: PathBuf,
    },
    /// What stands at the path is no socket.
    #[error("{} is a {kind}, not a socket; remove it or name another path with --socket", .path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The folder could be written by somebody else.
    #[error("the folder {} {fault}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
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

/// The control socket, listening, as long as this value lives.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// Device and inode of the socket, to remove no other file at the end.
    made: (u64, u64),
    listener: UnixListener,
    /// Held, not read.
    _lock: File,
}

impl Claim {
    /// Claims `path`, makes the socket and listens.
    ///
    /// With `own_folder` the path is a default one: its folder is made when missing, and must belong
    /// to this user alone.
    ///
    /// # Errors
    /// [`ClaimError`]; nothing that was there has changed.
    pub(crate) fn take(path: &Path, own_folder: bool) -> Result<Self, ClaimError> {
        if own_folder && let Some(folder) = path.parent() {
            claim_folder(folder)?;
        }
        // What is no socket is refused before a lock file appears beside it.
        file_kind_allows(path)?;
        let lock = lock(path)?;
        remove_dead(path)?;
        let listener = bind(path)?;
        let made = identity(path).map_err(system("look at", path))?;
        Ok(Self {
            path: path.to_owned(),
            made,
            listener,
            _lock: lock,
        })
    }

    /// Returns another handle of the listening socket.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub(crate) fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.made) {
            // An error leaves a dead socket, which the next start replaces.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the folder of a default path, or checks the one that is there.
fn claim_folder(folder: &Path) -> Result<(), ClaimError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(system("make the folder", folder)(error)),
    }
    let found = fs::symlink_metadata(folder).map_err(system("look at", folder))?;
    let user = rustix::process::geteuid().as_raw();
    // Root's folder may be open for reading, as service managers make it; nobody else may write.
    let forbidden = if user == 0 { 0o022 } else { 0o077 };
    let fault = if !found.is_dir() {
        "is not a folder".to_owned()
    } else if found.uid() != user {
        format!("belongs to user {}, not to {user}", found.uid())
    } else if found.mode() & forbidden != 0 {
        let mode = found.mode() & 0o7777;
        format!("has mode {mode:04o}, which lets others in; `chmod 700` it")
    } else {
        return Ok(());
    };
    Err(ClaimError::Folder {
        path: folder.to_owned(),
        fault,
    })
}

/// Returns whether a file is there; one that is no socket is an error.
fn file_kind_allows(path: &Path) -> Result<bool, ClaimError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(system("look at", path)(error)),
    };
    let kind = found.file_type();
    if kind.is_socket() {
        return Ok(true);
    }
    let kind = if kind.is_symlink() {
        "symbolic link"
    } else if kind.is_dir() {
        "folder"
    } else if kind.is_file() {
        "regular file"
    } else {
        "special file"
    };
    Err(ClaimError::Foreign {
        path: path.to_owned(),
        kind,
    })
}

/// Opens and locks the lock file beside the socket.
fn lock(path: &Path) -> Result<File, ClaimError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(
        CWD,
        &name,
        flags | OFlags::NONBLOCK,
        Mode::RUSR | Mode::WUSR,
    )
    .map_err(|error| system("open the lock file", &name)(error.into()))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file.into()),
        Err(Errno::WOULDBLOCK) => Err(ClaimError::Live {
            path: path.to_owned(),
        }),
        Err(error) => Err(system("lock", &name)(error.into())),
    }
}

/// Removes the socket at `path` if nobody listens behind it. Called with the lock held.
fn remove_dead(path: &Path) -> Result<(), ClaimError> {
    if !file_kind_allows(path)? {
        return Ok(());
    }
    let address = address(path)?;
    // Non-blocking, because a daemon that is stopped and has a full queue would hold a connect for ever.
    let probe = socket(path)?;
    match rustix::net::connect(&probe, &address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(system("remove", path)),
        Ok(()) | Err(Errno::AGAIN) => Err(ClaimError::Live {
            path: path.to_owned(),
        }),
        Err(error) => Err(system("check who listens on", path)(error.into())),
    }
}

fn bind(path: &Path) -> Result<UnixListener, ClaimError> {
    let address = address(path)?;
    let socket = socket(path)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)
        .map_err(|error| system("set the mode of", path)(error.into()))?;
    rustix::net::bind(&socket, &address)
        .map_err(|error| system("make the control socket", path)(error.into()))?;
    rustix::net::listen(&socket, BACKLOG)
        .map_err(|error| system("listen on", path)(error.into()))?;
    Ok(socket.into())
}

fn socket(path: &Path) -> Result<rustix::fd::OwnedFd, ClaimError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(|error| system("make a socket for", path)(error.into()))
}

fn address(path: &Path) -> Result<SocketAddrUnix, ClaimError> {
    SocketAddrUnix::new(path).map_err(|error| system("use as a socket's path", path)(error.into()))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ClaimError {
    let path = path.to_owned();
    move |source| ClaimError::System {
        action,
        path,
        source,
    }
}

/// Connections that wait to be accepted, among them all that come while the configuration is read.
const BACKLOG: i32 = 128;

#[cfg(test)]
mod tests;
