//! The controller's queue: what it reacts to, and the handle by which everything else reaches it.
//!
//! Its length is bounded by who can send: a client has at most one request in it, the data plane at most
//! one wake-up, a save or a read at most one end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use sluice_command::Fault;
use sluice_protocol::{Reply, Request};
use tokio::sync::oneshot;

use crate::ns_conf::Save;
use crate::save::{Replaced, SaveError};
use crate::saver::Content;

/// What the controller reacts to.
#[derive(Debug)]
pub(crate) enum Event {
    /// A client asks.
    Ask(Ask),
    /// A save that was under way has ended.
    Saved {
        save: Save,
        written: Result<Replaced, SaveError>,
        ask: Ask,
    },
    /// Files have been read, or why they could not be.
    Read {
        files: Vec<Result<Content, Fault>>,
        ask: Ask,
    },
    /// The data plane has something to be done.
    Wake,
    /// Accept no more flows, and tell when the last one has ended.
    Drain(oneshot::Sender<()>),
    /// End all flows and return.
    Stop,
}

/// A request and who waits for its answer.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) request: Request,
    /// The user who asks.
    pub(crate) uid: u32,
    answer: oneshot::Sender<Vec<Reply>>,
}

impl Ask {
    /// Hands over the whole answer.
    pub(crate) fn answer(self, answer: Result<Vec<Reply>, Fault>) {
        let replies = match answer {
            Ok(mut replies) => {
                replies.push(Reply::Done);
                replies
            }
            Err(fault) => vec![Reply::Error(fault)],
        };
        // The client may have left meanwhile; the command has run all the same.
        let _ = self.answer.send(replies);
    }
}

/// Sends events to the controller.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    events: Sender<Event>,
    /// Whether a wake-up is in the queue already.
    wake_sent: Arc<AtomicBool>,
}

impl Handle {
    /// Runs a request and returns the whole answer; `None` when the controller has stopped.
    pub(crate) async fn ask(&self, request: Request, uid: u32) -> Option<Vec<Reply>> {
        let (answer, answered) = oneshot::channel();
        let ask = Ask {
            request,
            uid,
            answer,
        };
        self.events.send(Event::Ask(ask)).ok()?;
        answered.await.ok()
    }

    /// Makes the controller look after the data plane. Called from any thread.
    pub(crate) fn wake(&self) {
        if !self.wake_sent.swap(true, Ordering::AcqRel) {
            // Nobody is left to look after it when the controller has stopped.
            let _ = self.events.send(Event::Wake);
        }
    }

    /// Stops taking new flows; the receiver hears when none is left.
    pub(crate) fn drain(&self) -> oneshot::Receiver<()> {
        let (drained, receiver) = oneshot::channel();
        let _ = self.events.send(Event::Drain(drained));
        receiver
    }

    /// Tells how a save ended.
    pub(crate) fn saved(&self, save: Save, written: Result<Replaced, SaveError>, ask: Ask) {
        // Nobody waits for it any more when the controller has stopped.
        let _ = self.events.send(Event::Saved { save, written, ask });
    }

    /// Hands over files that were read.
    pub(crate) fn read(&self, files: Vec<Result<Content, Fault>>, ask: Ask) {
        // As for a save.
        let _ = self.events.send(Event::Read { files, ask });
    }

    /// Ends all flows and the controller.
    pub(crate) fn stop(&self) {
        let _ = self.events.send(Event::Stop);
    }
}

/// The receiving end of the queue.
#[derive(Debug)]
pub(crate) struct Events {
    receiver: Receiver<Event>,
    wake_sent: Arc<AtomicBool>,
}

impl Events {
    /// Waits for the next event, at most as long as `limit`; `None` when that is over.
    pub(crate) fn next(&self, limit: Option<Duration>) -> Option<Event> {
        let event = match limit {
            Some(limit) => self.receiver.recv_timeout(limit),
            None => self.receiver.recv().map_err(RecvTimeoutError::from),
        };
        match event {
            Ok(event) => {
                if matches!(event, Event::Wake) {
                    // Before the wake-up is acted on: what comes up from now on needs another one.
                    self.wake_sent.store(false, Ordering::Release);
                }
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) => None,
            // Without handles nobody could ask for anything any more, not even for the end.
            Err(RecvTimeoutError::Disconnected) => Some(Event::Stop),
        }
    }
}

/// Makes the queue.
pub(crate) fn queue() -> (Handle, Events) {
    let (sender, receiver) = mpsc::channel();
    let wake_sent = Arc::new(AtomicBool::new(false));
    let handle = Handle {
        events: sender,
        wake_sent: Arc::clone(&wake_sent),
    };
    (
        handle,
        Events {
            receiver,
            wake_sent,
        },
    )
}

#[cfg(test)]
impl Events {
    /// Answers every request with `answer`, in a thread of its own, until all handles are gone.
    pub(crate) fn answer_all(self, answer: Vec<Reply>) {
        std::thread::spawn(move || {
            while let Ok(event) = self.receiver.recv() {
                match event {
                    Event::Ask(ask) => drop(ask.answer.send(answer.clone())),
                    Event::Saved { .. }
                    | Event::Read { .. }
                    | Event::Wake
                    | Event::Drain(_)
                    | Event::Stop => {}
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_wake_ups_are_one_event_until_it_is_taken() {
        let (handle, events) = queue();
        handle.wake();
        handle.wake();
        assert!(matches!(events.next(None), Some(Event::Wake)));
        assert!(events.next(Some(Duration::ZERO)).is_none());
        handle.wake();
        assert!(matches!(events.next(None), Some(Event::Wake)));
    }

    #[test]
    fn without_handles_the_queue_says_stop() {
        let (handle, events) = queue();
        drop(handle);
        assert!(matches!(events.next(None), Some(Event::Stop)));
    }
}
