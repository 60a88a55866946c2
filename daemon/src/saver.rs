//! The thread that writes the configuration file. A disk may take seconds; the controller, which also
//! looks after traffic, must not wait for it.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use crate::ns_conf::Save;
use crate::queue::{Ask, Handle};

/// The thread. The configuration file's state sees to it that there is one save at a time.
#[derive(Debug)]
pub(crate) struct Saver {
    saves: Sender<(Save, Ask)>,
    thread: JoinHandle<()>,
}

impl Saver {
    /// Starts the thread; it tells the controller how each save ended.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(controller: Handle) -> io::Result<Self> {
        let (saves, received) = mpsc::channel::<(Save, Ask)>();
        let thread = thread::Builder::new()
            .name("saver".to_owned())
            .spawn(move || {
                for (save, ask) in received {
                    let written = save.write();
                    controller.saved(save, written, ask);
                }
            })?;
        Ok(Self { saves, thread })
    }

    /// Writes a file.
    pub(crate) fn save(&self, save: Save, ask: Ask) {
        // The thread is there as long as this value; if it has panicked, the log says so, and the client
        // hears that its answer will not come.
        let _ = self.saves.send((save, ask));
    }

    /// Ends the thread after what it is writing.
    pub(crate) fn end(self) {
        drop(self.saves);
        let _ = self.thread.join();
    }
}
