//! Reading the configuration file at the start: the same commands as typed ones, through the same path.
//!
//! Invariant: no line of the file stops the boot. One that fails is left out, reported and kept.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sluice_command::{Fault, Line, lines};
use sluice_config::{Config, plan_line};
use sluice_dataplane::Dataplane;
use thiserror::Error;

use crate::controller::carry_out;
use crate::log;
use crate::ns_conf::{FailedLine, NsConf};

/// Why there is nothing to boot from.
#[derive(Debug, Error)]
pub(crate) enum BootError {
    /// The file is there and cannot be read.
    #[error("cannot read the configuration {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file is longer than any configuration.
    #[error("the configuration {} has more than {FILE_MAX} bytes", .path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}

/// Loads the file at `path` into an empty `config` and serves it. A missing file is an empty one.
///
/// # Errors
/// [`BootError`] when the file as a whole cannot be read.
pub(crate) fn load(
    path: PathBuf,
    config: &mut Config,
    dataplane: &mut Dataplane,
) -> Result<NsConf, BootError> {
    let bytes = read(&path)?;
    let originals = originals(&bytes);
    let mut failed = Vec::new();
    for Line { number, text } in lines(&bytes) {
        match run_line(text, config, dataplane) {
            Ok(warnings) => {
                for warning in warnings {
                    log::line(&format!("{}:{number}: Warning: {warning}", path.display()));
                }
            }
            Err(fault) => failed.push(FailedLine {
                number,
                text: originals[number - 1].to_vec(),
                fault,
            }),
        }
    }
    dataplane.handle_booted();
    Ok(NsConf::loaded(path, failed, config))
}

fn run_line(
    text: Result<String, Fault>,
    config: &mut Config,
    dataplane: &mut Dataplane,
) -> Result<Vec<String>, Fault> {
    let planned = plan_line(config, &text?).map_err(|refused| refused.fault().clone())?;
    planned.map_or(Ok(Vec::new()), |plan| carry_out(plan, config, dataplane))
}

/// Returns the bytes of each line as they stand in the file.
fn originals(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').collect()
}

fn read(path: &Path) -> Result<Vec<u8>, BootError> {
    let unreadable = |source| BootError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            tracing::info!("{} does not exist: starting empty", path.display());
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(FILE_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(BootError::TooLong {
            path: path.to_owned(),
        });
    }
    Ok(bytes)
}

/// A hundred bytes each for half a million lines; stops a device given by mistake from filling memory.
const FILE_MAX: u64 = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn originals_are_numbered_like_the_lines() {
        let bytes = b"\xef\xbb\xbfone\r\n\ntwo \xff\nthree";
        let originals = originals(bytes);
        let numbers: Vec<_> = lines(bytes).iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(originals, [&b"one\r"[..], b"", b"two \xff", b"three"]);
    }

    #[test]
    fn a_missing_file_is_empty_and_an_unreadable_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none")).unwrap(), b"");
        let refused = read(folder.path()).unwrap_err();
        assert!(matches!(refused, BootError::Unreadable { .. }), "{refused}");
        let refused = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the configuration /dev/zero has more than 67108864 bytes"
        );
    }
}
