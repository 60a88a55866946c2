//! How one service answers: how fast, how often not, and whether it says anything at all.
//!
//! Owns what LEASTRESPONSETIME compares, and what keeps a service that fails from looking idle or fast to
//! the methods that compare a number:
//!
//! - **Failing fast is not being fast.** A flow that the service refused, or ended without a byte, counts
//!   as [`FAILURE_TIME`] of response time, and goes on counting as an open connection for a while.
//! - **Silence is not idleness.** While client data has been unanswered for over [`PATIENCE`], or a flow
//!   has failed, and the service has said nothing to anybody since, it stands behind all others. Bytes
//!   are no use to it there: it takes in and gives nothing back.
//! - **What is avoided is tried again.** One flow every [`TRIAL_INTERVAL`] may find it as it was before,
//!   and response times fade.
//!
//! A byte from the service on any of its flows is a sign of life and ends its silence. First answers are
//! reported; other bytes are seen in the counters, at every sample and choice. What the data plane does not
//! report is not held against a service.
//!
//! Source: own choice. Least bandwidth as it stands gives a service that swallows traffic all of it.

use std::time::Duration;

use crate::fading::{AverageTime, Moment, Sum};
use crate::waiting::{Progress, Waiting};
use crate::{CloseReason, Instant};

/// The record of one service.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) waiting: Waiting,
    times: AverageTime,
    /// Flows that failed fast, fading.
    failures: Sum,
    /// Whether a flow has failed since the last sign of life.
    has_failed: bool,
    /// Bytes from the service when it last became suspect.
    bytes_out: u64,
    /// When a flow was last given to it.
    chosen: Instant,
}

impl Answers {
    /// Notes that a flow is given to the service.
    pub(crate) fn choose(&mut self, now: Instant) {
        self.chosen = now;
    }

    /// Looks at the bytes that have come from the service before something counts against it.
    pub(crate) fn look(&mut self, bytes_out: u64) {
        if bytes_out != self.bytes_out {
            self.hear();
            self.bytes_out = bytes_out;
        }
    }

    /// Notes the first answer of a flow that waited for `time`.
    pub(crate) fn answer(&mut self, time: Duration, moment: Moment) {
        self.hear();
        self.times.add(time, moment);
    }

    /// Notes a flow that failed after `time`.
    pub(crate) fn fail(&mut self, failure: Failure, time: Duration, moment: Moment) {
        self.has_failed = true;
        self.times.add(time.max(FAILURE_TIME), moment);
        match failure {
            Failure::Fast => self.failures.add(1, moment),
            // It has been an open connection for as long as the client stayed.
            Failure::Silent => {}
        }
    }

    /// Begins anew: the operator or a monitor says that the service is well.
    pub(crate) fn forgive(&mut self) {
        self.hear();
        self.failures.clear();
    }

    /// Returns how many connections failures still count as.
    #[inline]
    pub(crate) fn recent_failures(&self, moment: Moment) -> u64 {
        self.failures.at(moment)
    }

    /// Returns how long an answer takes, in nanoseconds: the average, or what somebody has been waiting
    /// for already; `usual` is what it takes elsewhere. At least 1, so that connections always count.
    #[inline]
    pub(crate) fn expected_time(&self, usual: u64, moment: Moment, now: Instant) -> u64 {
        self.times
            .expected(usual, moment)
            .max(self.waited(now))
            .max(1)
    }

    /// Returns how long the client has been waiting who has been for longest, in nanoseconds.
    #[inline]
    pub(crate) fn waited(&self, now: Instant) -> u64 {
        let age = |since| now.as_nanos().saturating_sub(Instant::as_nanos(since));
        self.waiting.oldest().map_or(0, age)
    }

    /// Returns the average response time, failures included; none before the first.
    pub(crate) fn average_time(&self) -> Option<Duration> {
        self.times.average().map(Duration::from_nanos)
    }

    /// Whether the service stands behind all others; `bytes_out` says how many bytes have come from it.
    #[inline]
    pub(crate) fn stands_behind(&self, bytes_out: impl FnOnce() -> u64, now: Instant) -> bool {
        let is_over = |since| now.duration_since(since) > PATIENCE;
        let is_suspect = self.has_failed || self.waiting.unheard().is_some_and(is_over);
        is_suspect
            && now.duration_since(self.chosen) < TRIAL_INTERVAL
            && bytes_out() == self.bytes_out
    }

    fn hear(&mut self) {
        self.has_failed = false;
        self.waiting.hear();
    }
}

/// How a flow failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The service refused it, or ended it without a byte.
    Fast,
    /// The client, or a limit, gave up waiting.
    Silent,
}

impl Failure {
    /// Returns how and after which moment a flow failed that ended for `reason`, if it is the service's
    /// fault. A client that leaves without having sent anything is nobody's.
    pub(crate) fn of(reason: CloseReason, progress: Progress) -> Option<(Self, Instant)> {
        let (asked, since) = match progress {
            Progress::Quiet(since) => (false, since),
            Progress::Asked(since) => (true, since),
            Progress::Answered => return None,
        };
        let failure = match reason {
            CloseReason::ConnectFailed | CloseReason::ServiceClosed | CloseReason::ServiceReset => {
                Some(Self::Fast)
            }
            CloseReason::Finished | CloseReason::ClientReset | CloseReason::IdleLimit => {
                asked.then_some(Self::Silent)
            }
            CloseReason::Flushed | CloseReason::Local => None,
        };
        failure.map(|failure| (failure, since))
    }
}

/// What a failure counts as, at least.
///
/// Source: own choice: the data plane's limit for a connect. A service that takes longer to answer than
/// this is slower than one that fails, until it is found out otherwise.
const FAILURE_TIME: Duration = Duration::from_secs(5);

/// How long client data may be unanswered before silence is taken for a fault.
///
/// Source: own choice: longer than nearly all answers, short enough to lose little.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a silent service is tried again.
///
/// Source: own choice: the clients lost to it are one in 5 s, and it is back 5 s after it is well.
const TRIAL_INTERVAL: Duration = Duration::from_secs(5);
