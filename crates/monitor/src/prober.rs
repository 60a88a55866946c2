//! Runs probes beside each other, in a thread of their own that goes before those that move traffic.
//!
//! Owns which probes run. At most [`MOST_PROBES`] do at once, of these at most [`MOST_PROGRAMS`] with
//! a program; what comes on top waits, and its time runs. How many are asked for is the caller's to
//! bound. Invariant: for each probe there is one report, or none after it was cancelled.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::seen::{Ended, Seen};
use crate::{Check, Probe, Report, run, sys};

/// A thread that probes.
pub struct Prober {
    /// Closed first, which ends the thread.
    jobs: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is to do.
enum Job {
    Start(Task),
    Cancel(u64),
}

/// A probe that is asked for.
struct Task {
    number: u64,
    probe: Arc<Probe>,
    service: SocketAddr,
    deadline: Instant,
}

impl Prober {
    /// Starts the thread; `report` is called in it with the number of each probe that has ended.
    ///
    /// The thread runs before others where the process may say so (root, CAP_SYS_NICE), so that a
    /// machine that is busy with traffic does not find its services DOWN. Its programs run as others.
    ///
    /// # Errors
    /// A thread or what it waits with cannot be made.
    pub fn start(report: impl Fn(u64, Report) + Send + 'static) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (jobs, receiver) = unbounded_channel();
        let thread = std::thread::Builder::new()
            .name("prober".to_owned())
            .spawn(move || {
                // Without the right to it, probes run as everything else.
                let _ = sys::go_first();
                runtime.block_on(serve(receiver, report));
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Starts a probe, which ends within `limit` from now; `number` is not in use.
    pub fn probe(&self, number: u64, probe: Arc<Probe>, service: SocketAddr, limit: Duration) {
        self.post(Job::Start(Task {
            number,
            probe,
            service,
            deadline: Instant::now() + limit,
        }));
    }

    /// Ends a probe without a report; one that has ended stays so.
    pub fn cancel(&self, number: u64) {
        self.post(Job::Cancel(number));
    }

    fn post(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread is there unless `report` has panicked; then nothing is reported any more.
            let _ = jobs.send(job);
        }
    }
}

/// Ends all probes, with their programs, and waits until the thread has ended.
impl Drop for Prober {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(mut jobs: UnboundedReceiver<Job>, report: impl Fn(u64, Report)) {
    let room = Arc::new(Room {
        probes: Semaphore::new(MOST_PROBES),
        programs: Semaphore::new(MOST_PROGRAMS),
    });
    let mut ending = JoinSet::new();
    let mut running: HashMap<u64, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            biased;
            job = jobs.recv() => match job {
                Some(Job::Start(task)) => {
                    let number = task.number;
                    let handle = ending.spawn(carry_out(task, Arc::clone(&room)));
                    running.insert(number, handle);
                }
                Some(Job::Cancel(number)) => {
                    if let Some(handle) = running.remove(&number) {
                        handle.abort();
                    }
                }
                None => return,
            },
            Some(ended) = ending.join_next() => match ended {
                Ok((number, said)) => {
                    if running.remove(&number).is_some() {
                        report(number, said);
                    }
                }
                // One that was cancelled is not here any more; one that panicked leaves its number.
                Err(_) => running.retain(|_, handle| !handle.is_finished()),
            },
        }
    }
}

/// How many more may run.
struct Room {
    probes: Semaphore,
    programs: Semaphore,
}

impl Room {
    async fn enter(&self, check: &Check) -> (Option<SemaphorePermit<'_>>, SemaphorePermit<'_>) {
        const OPEN: &str = "it is never closed";
        let program = match check {
            Check::User(_) => Some(self.programs.acquire().await.expect(OPEN)),
            _ => None,
        };
        (program, self.probes.acquire().await.expect(OPEN))
    }
}

async fn carry_out(task: Task, room: Arc<Room>) -> (u64, Report) {
    let entered = timeout_at(task.deadline, room.enter(&task.probe.check)).await;
    let said = match entered {
        Ok(_place) => run(&task.probe, task.service, task.deadline).await,
        Err(_) => Seen::new().report(Ended::failed("Probe timed out: too many probes at once")),
    };
    (task.number, said)
}

/// As many sockets at most; at a second each, a thousand services a second.
const MOST_PROBES: usize = 1024;

/// A program takes a process or more, and memory.
const MOST_PROGRAMS: usize = 32;
