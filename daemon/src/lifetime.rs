//! The daemon's life from start to end.
//!
//! ```text
//! claim socket -> read configuration -> ready -> serve -> (SIGTERM, SIGINT) drain -> stop
//!      |                |    (--strict and a failed line)        (a second one, or --drain over) ^
//!      v                v
//!     exit 1           exit 1
//! ```
//!
//! The control socket is claimed before anything else, so that a second daemon ends without having
//! touched an address. Clients that connect meanwhile wait in its queue until the configuration is read.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sluice_dataplane::{Dataplane, Options};
use thiserror::Error;
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::args::{Args, Driver};
use crate::boot::BootError;
use crate::claim::{Claim, ClaimError};
use crate::controller::Controller;
use crate::queue::{Events, Handle, queue};
use crate::saver::Saver;
use crate::{control_socket, descriptors, log, notify};

/// Why the daemon cannot start, or ended on its own.
#[derive(Debug, Error)]
pub(crate) enum LifeError {
    /// The control socket cannot be had.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The configuration cannot be read.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// Lines failed and `--strict` was given.
    #[error("{failed} lines of {} failed and --strict was given", .path.display())]
    Strict {
        /// How many.
        failed: usize,
        /// The configuration file.
        path: PathBuf,
    },
    /// The system refused something the daemon needs.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The controller's thread panicked; the log says where.
    #[error("the controller has failed")]
    Controller,
}

/// Runs the daemon until a signal ends it.
pub(crate) fn run(args: &Args) -> Result<(), LifeError> {
    descriptors::raise_limit();
    let driver = driver(args.driver).map_err(system("use io_uring"))?;
    let config = std::path::absolute(&args.config).map_err(system("find the configuration"))?;
    let claim = Claim::take(
        &args.socket,
        args.socket == sluice_protocol::default_socket(),
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the event loop"))?;
    let ended = serve(args, driver, config, &claim, &runtime);
    // The socket goes last: while it stands, nobody else starts.
    drop(runtime);
    drop(claim);
    ended
}

/// Finds out what moves traffic.
fn driver(wanted: Driver) -> io::Result<sluice_dataplane::Driver> {
    use sluice_dataplane::Driver::{Epoll, Uring};
    match wanted {
        Driver::Epoll => Ok(Epoll),
        Driver::Uring => Uring.probe().map(|()| Uring),
        Driver::Auto => Ok(match Uring.probe() {
            Ok(()) => Uring,
            Err(error) => {
                tracing::info!(%error, "no io_uring here: epoll is used");
                Epoll
            }
        }),
    }
}

fn serve(
    args: &Args,
    driver: sluice_dataplane::Driver,
    config: PathBuf,
    claim: &Claim,
    runtime: &Runtime,
) -> Result<(), LifeError> {
    let _context = runtime.enter();
    let mut signals = Signals::install().map_err(system("handle signals"))?;
    let listener = claim.listener().map_err(system("use the control socket"))?;
    let listener = UnixListener::from_std(listener).map_err(system("use the control socket"))?;
    let (handle, events) = queue();
    let mut thread = ControllerThread::start(args, driver, config, handle.clone(), events)
        .map_err(system("start the controller"))?;
    runtime.block_on(async {
        tokio::select! {
            booted = thread.booted() => booted?,
            // Nothing is served yet: there is nothing to drain.
            () = signals.end() => return Ok(()),
        }
        log::line("ready");
        notify::send("READY=1");
        tokio::spawn(control_socket::serve(listener, handle.clone()));
        tokio::select! {
            () = signals.end() => {}
            () = thread.ended() => return Err(LifeError::Controller),
        }
        drain(args.drain, &handle, &mut signals).await;
        handle.stop();
        thread.stopped().await
    })
}

/// Lets flows go on until they end, the limit is over or another signal comes.
async fn drain(limit_s: u64, handle: &Handle, signals: &mut Signals) {
    notify::send("STOPPING=1");
    tracing::info!("stopping: no new flows, open ones may go on for {limit_s} s");
    tokio::select! {
        _ = handle.drain() => tracing::info!("all flows have ended"),
        () = tokio::time::sleep(Duration::from_secs(limit_s)) => {
            tracing::warn!("flows that are left after {limit_s} s are ended");
        }
        () = signals.end() => tracing::warn!("a second signal ends all flows at once"),
    }
}

/// The controller's thread as the main thread sees it.
struct ControllerThread {
    booted: oneshot::Receiver<Result<(), LifeError>>,
    /// Its sender is dropped when the thread ends, however it ends.
    ended: oneshot::Receiver<()>,
}

impl ControllerThread {
    fn start(
        args: &Args,
        driver: sluice_dataplane::Driver,
        config: PathBuf,
        handle: Handle,
        events: Events,
    ) -> io::Result<Self> {
        let waker = handle.clone();
        let options = Options {
            workers: args.workers(),
            driver,
            wake: Arc::new(move || waker.wake()),
        };
        let strict = args.strict;
        let (report, booted) = oneshot::channel();
        let (alive, ended) = oneshot::channel();
        thread::Builder::new()
            .name("controller".to_owned())
            .spawn(move || {
                let _alive: oneshot::Sender<()> = alive;
                match boot(config, options, strict, handle) {
                    Ok(controller) => {
                        // The receiver is gone when a signal came first; then `run` ends with the process.
                        let _ = report.send(Ok(()));
                        controller.run(&events);
                    }
                    Err(error) => {
                        let _ = report.send(Err(error));
                    }
                }
            })?;
        Ok(Self { booted, ended })
    }

    async fn booted(&mut self) -> Result<(), LifeError> {
        (&mut self.booted)
            .await
            .unwrap_or(Err(LifeError::Controller))
    }

    async fn ended(&mut self) {
        let _ = (&mut self.ended).await;
    }

    /// Waits until all flows are ended; the end of the process ends what hangs.
    async fn stopped(mut self) -> Result<(), LifeError> {
        if tokio::time::timeout(STOP_LIMIT, self.ended())
            .await
            .is_err()
        {
            tracing::warn!("flows were not ended within {} s", STOP_LIMIT.as_secs());
        }
        Ok(())
    }
}

fn boot(
    config: PathBuf,
    options: Options,
    strict: bool,
    handle: Handle,
) -> Result<Controller, LifeError> {
    let saver = Saver::start(handle).map_err(system("start the saver"))?;
    let dataplane = Dataplane::start(options).map_err(system("start the workers"))?;
    let controller = Controller::boot(config.clone(), dataplane, saver)?;
    let failures = controller.boot_failures();
    failures.iter().for_each(|failure| log::line(failure));
    if strict && !failures.is_empty() {
        return Err(LifeError::Strict {
            failed: failures.len(),
            path: config,
        });
    }
    Ok(controller)
}

/// The signals that mean something to the daemon. SIGPIPE is ignored by the standard library's start-up.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal that asks the daemon to end.
    async fn end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    tracing::info!("SIGHUP is ignored: commands change the configuration");
                }
            }
        }
    }
}

fn system(action: &'static str) -> impl FnOnce(io::Error) -> LifeError {
    move |source| LifeError::System { action, source }
}

/// How long ending all flows may take; closing a million sockets takes about a second.
const STOP_LIMIT: Duration = Duration::from_secs(5);
