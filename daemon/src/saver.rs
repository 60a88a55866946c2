//! The thread that writes the configuration file, and reads it and its earlier versions. A disk may take
//! seconds; the controller, which also looks after traffic, must not wait for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use sluice_command::{Fault, catalogue};
use sluice_config::{Config, load_file};

use crate::boot;
use crate::log::escaped;
use crate::ns_conf::Save;
use crate::queue::{Ask, Handle};

/// The thread. The configuration file's state sees to it that there is one save at a time.
#[derive(Debug)]
pub(crate) struct Saver {
    jobs: Sender<(Job, Ask)>,
    thread: JoinHandle<()>,
}

/// What the thread does.
#[derive(Debug)]
enum Job {
    Save(Save),
    /// Reads files and loads what they say.
    Read(Vec<PathBuf>),
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Content {
    /// Its bytes; `None` when there is no such file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// What it makes of nothing.
    pub(crate) config: Config,
    /// How many of its lines do not load.
    pub(crate) failed: usize,
}

impl Saver {
    /// Starts the thread; it tells the controller how each job ended.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(controller: Handle) -> io::Result<Self> {
        let (jobs, received) = mpsc::channel::<(Job, Ask)>();
        let thread = thread::Builder::new()
            .name("saver".to_owned())
            .spawn(move || {
                for (job, ask) in received {
                    match job {
                        Job::Save(save) => {
                            let written = save.write();
                            controller.saved(save, written, ask);
                        }
                        Job::Read(paths) => {
                            controller.read(paths.iter().map(|path| read(path)).collect(), ask)
                        }
                    }
                }
            })?;
        Ok(Self { jobs, thread })
    }

    /// Writes a file.
    pub(crate) fn save(&self, save: Save, ask: Ask) {
        self.send(Job::Save(save), ask);
    }

    /// Reads files, each one that is not there as an empty one.
    pub(crate) fn read(&self, paths: Vec<PathBuf>, ask: Ask) {
        self.send(Job::Read(paths), ask);
    }

    fn send(&self, job: Job, ask: Ask) {
        // The thread is there as long as this value; if it has panicked, the log says so, and the client
        // hears that its answer will not come.
        let _ = self.jobs.send((job, ask));
    }

    /// Ends the thread after what it is doing.
    pub(crate) fn end(self) {
        drop(self.jobs);
        let _ = self.thread.join();
    }
}

fn read(path: &Path) -> Result<Content, Fault> {
    let bytes = boot::read(path).map_err(|error| {
        Fault::new(catalogue::FILE_UNREADABLE).with_details(escaped(&error.to_string()))
    })?;
    let (config, report) = load_file(bytes.as_deref().unwrap_or_default());
    Ok(Content {
        bytes,
        config,
        failed: report.failed(),
    })
}
