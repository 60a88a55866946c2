//! Ctrl-C while a command runs, in the shell: it ends the waiting, not the shell.
//!
//! While keys are read the terminal sends no signal, and the line editor handles the key. Words and
//! files keep the usual meaning of the signal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGINT;

/// Whether Ctrl-C was pressed since the last [`Interrupt::clear`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    is_pressed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over the signal: from now on it no longer ends the process.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(crate) fn catch(&self) -> io::Result<()> {
        signal_hook::flag::register(SIGINT, Arc::clone(&self.is_pressed)).map(drop)
    }

    /// Forgets what was pressed, before the next line.
    pub(crate) fn clear(&self) {
        self.is_pressed.store(false, Ordering::Release);
    }

    fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::Acquire)
    }

    /// Returns what `work` does; `None` if Ctrl-C was pressed before or meanwhile.
    ///
    /// Work that is not waited for any more goes on in a thread of its own until its own time
    /// limit, since a blocking call cannot be taken back.
    ///
    /// # Errors
    /// There is no thread to be had; nothing was done.
    pub(crate) fn unless_pressed<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        if self.is_pressed() {
            return Ok(None);
        }
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            // The one who asked may have stopped waiting.
            let _ = sender.send(work());
        })?;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(done) => return Ok(Some(done)),
                Err(RecvTimeoutError::Timeout) if !self.is_pressed() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the waiting thread ended"));
                }
            }
        }
    }
}

/// A key press is answered at once, as a person sees it.
const LOOK: Duration = Duration::from_millis(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_not_begun_after_the_key_until_it_is_forgotten() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.unless_pressed(|| 1).unwrap(), Some(1));
        interrupt.is_pressed.store(true, Ordering::Release);
        assert_eq!(interrupt.unless_pressed(|| 2).unwrap(), None);
        interrupt.clear();
        assert_eq!(interrupt.unless_pressed(|| 3).unwrap(), Some(3));
    }

    #[test]
    fn the_key_ends_the_waiting_for_work_that_does_not_end() {
        let interrupt = Interrupt::default();
        let (_never, end) = mpsc::channel::<()>();
        let pressed = Arc::clone(&interrupt.is_pressed);
        let work = move || {
            pressed.store(true, Ordering::Release);
            end.recv()
        };
        assert!(interrupt.unless_pressed(work).unwrap().is_none());
    }
}
