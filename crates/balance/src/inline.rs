//! What the connections of one service say of it: TCP-INLINE.
//!
//! Owns the record of one service: its last connections, and whether it is out because of them.
//!
//! ```text
//!        `retries` failures in a row, or 30 of the last 100
//!   In ----------------------------------------------------> Out(until)
//!    ^                                                          | down_time, doubled each time
//!    |                                                          v
//!    +--- it answers the trial ------ Trial: one flow at a time, until one of them decides
//!                                       |       ^
//!                                       +-------+--- the trial fails: Out, for longer
//! ```
//!
//! A failure is a connect that was refused or timed out; a reset by the service, or its close, with
//! client data unanswered; and silence: client data without an answer for `response_timeout`, or
//! until the client gave up, if another service of the virtual server has answered since this one
//! did. Of a flow only the first exchange counts. UDP and one-way services are not watched for
//! silence.
//!
//! Whether a service may go out, and who has answered, is in `engine::inline`.
//!
//! Invariants: `outcomes` has a bit for each of the last connections, the newest lowest, set for a
//! failed one, and `seen` says how many there are; both are empty while it is not In.

use std::time::Duration;

use crate::waiting::FlowSlot;
use crate::{InlineStatus, Instant, ServiceId};

/// How services are watched by their own connections.
///
/// `retries` failures in a row make a service DOWN, and 30 of the last 100. A failure is a connect
/// that was refused or timed out, a reset or close by the service with client data unanswered, and
/// client data that is not answered for `response_timeout`, or until the client gives up, if
/// another service of the virtual server has answered since. A service that is out takes one flow
/// at a time after its time, until one is answered; if it fails, it is out again for twice as long.
/// At most half of the services of a virtual server are out this way, never the last; what the
/// operator enables, is not.
///
/// Source: own choice, beyond the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassiveSettings {
    /// Whether they are.
    pub enabled: bool,
    /// How many connections in a row fail that make a service DOWN; at least 1.
    pub retries: u8,
    /// How long client data may be unanswered before that is silence.
    pub response_timeout: Duration,
    /// How long a service is out the first time; each further time twice as long, up to 5 minutes.
    pub down_time: Duration,
}

impl PassiveSettings {
    /// Nobody is watched.
    pub(crate) const OFF: Self = Self {
        enabled: false,
        ..Self::USUAL
    };

    const USUAL: Self = Self {
        enabled: true,
        retries: 9,
        response_timeout: Duration::from_secs(5),
        down_time: Duration::from_secs(10),
    };
}

/// What services are watched by unless it is told otherwise: on, 9 in a row, 5 s, 10 s.
impl Default for PassiveSettings {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The record of one service.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    outcomes: u128,
    seen: u32,
    in_a_row: u32,
    place: Place,
    /// How often it went out, without a long time between.
    times_out: u32,
    /// When it last came back, or was let off.
    back: Instant,
    /// When it last answered a flow for the first time; none if it never did.
    pub(crate) answered: Option<Instant>,
    /// The time that the engine has noted for it.
    pub(crate) noted: Option<Instant>,
}

/// Where a service is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    In,
    Out(Instant),
    Trial(Option<(FlowSlot, Instant)>),
}

/// What a connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing that anybody else sees.
    None,
    /// The service has failed too often: it goes out if it may.
    GoesOut,
    /// The trial is over, and the service is back.
    IsBack,
    /// The trial has failed: the service goes out again.
    IsOutAgain,
}

impl Inline {
    /// Whether it is out.
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        matches!(self.place, Place::Out(_))
    }

    /// Whether it is out or on trial.
    pub(crate) fn is_suspect(&self) -> bool {
        self.place != Place::In
    }

    /// Whether it takes no flow because one is on trial.
    #[inline]
    pub(crate) fn is_trying(&self) -> bool {
        matches!(self.place, Place::Trial(Some(_)))
    }

    /// Returns until when it is out.
    pub(crate) fn out_until(&self) -> Option<Instant> {
        match self.place {
            Place::Out(until) => Some(until),
            Place::In | Place::Trial(_) => None,
        }
    }

    /// Returns the flow on trial and since when it is.
    pub(crate) fn trial(&self) -> Option<(FlowSlot, Instant)> {
        match self.place {
            Place::Trial(trial) => trial,
            Place::In | Place::Out(_) => None,
        }
    }

    /// Shows the record.
    pub(crate) fn status(&self) -> InlineStatus {
        InlineStatus {
            out_until: self.out_until(),
            is_on_trial: matches!(self.place, Place::Trial(_)),
            failed_in_a_row: self.in_a_row,
            failed: self.outcomes.count_ones(),
            seen: self.seen,
        }
    }

    /// Notes that a flow is given to the service.
    #[inline]
    pub(crate) fn choose(&mut self, flow: FlowSlot, now: Instant) {
        if self.place == Place::Trial(None) {
            self.place = Place::Trial(Some((flow, now)));
        }
    }

    /// Notes the first answer to a flow.
    pub(crate) fn answer(&mut self, flow: FlowSlot, now: Instant) -> Effect {
        self.answered = Some(now);
        match self.place {
            Place::In => {
                self.count(false);
                Effect::None
            }
            Place::Trial(Some((trial, _))) if trial == flow => {
                self.come_back(now);
                Effect::IsBack
            }
            Place::Out(_) | Place::Trial(_) => Effect::None,
        }
    }

    /// Notes a flow that failed.
    pub(crate) fn fail(&mut self, flow: FlowSlot, settings: &PassiveSettings) -> Effect {
        match self.place {
            Place::In => {
                self.count(true);
                let retries = u32::from(settings.retries.max(1));
                let failed = self.outcomes.count_ones();
                if self.in_a_row >= retries || self.seen == LOOKED_AT && failed >= TOO_MANY {
                    Effect::GoesOut
                } else {
                    Effect::None
                }
            }
            Place::Trial(Some((trial, _))) if trial == flow => Effect::IsOutAgain,
            Place::Out(_) | Place::Trial(_) => Effect::None,
        }
    }

    /// Notes that a flow has ended, or has had its time, and says nothing; returns whether it was
    /// on trial, so that another one may be.
    pub(crate) fn end_trial(&mut self, flow: Option<FlowSlot>) -> bool {
        let Place::Trial(Some((trial, _))) = self.place else {
            return false;
        };
        let is_it = flow.is_none_or(|flow| flow == trial);
        if is_it {
            self.place = Place::Trial(None);
        }
        is_it
    }

    /// Puts it out.
    pub(crate) fn go_out(&mut self, settings: &PassiveSettings, now: Instant) {
        if self.place == Place::In && now.duration_since(self.back) > LONGEST {
            self.times_out = 0;
        }
        let doubled = settings
            .down_time
            .saturating_mul(1 << self.times_out.min(16));
        // The operator's time counts, even if it is longer.
        let length = doubled.min(LONGEST.max(settings.down_time));
        self.times_out += 1;
        self.place = Place::Out(now + length);
        self.forget();
    }

    /// Lets it try: one flow at a time.
    pub(crate) fn begin_trial(&mut self) {
        self.place = Place::Trial(None);
    }

    /// Counts from the beginning: it could not go out.
    pub(crate) fn forget(&mut self) {
        (self.outcomes, self.seen, self.in_a_row) = (0, 0, 0);
    }

    /// Takes it back without a trial; returns whether it was not in. What it did before is counted
    /// no more; how often it was out is, unless it is `forgiven`.
    pub(crate) fn let_off(&mut self, forgiven: bool, now: Instant) -> bool {
        let was_suspect = self.is_suspect();
        self.come_back(now);
        if forgiven {
            self.times_out = 0;
        }
        was_suspect
    }

    fn come_back(&mut self, now: Instant) {
        self.place = Place::In;
        self.back = now;
        self.forget();
    }

    fn count(&mut self, failed: bool) {
        let all = (1 << LOOKED_AT) - 1;
        self.outcomes = ((self.outcomes << 1) | u128::from(failed)) & all;
        self.seen = (self.seen + 1).min(LOOKED_AT);
        self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
    }
}

/// Which services of a virtual server answered last: two different ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastAnswers {
    last: Option<(ServiceId, Instant)>,
    /// The last one of another service than that.
    other: Option<(ServiceId, Instant)>,
}

impl LastAnswers {
    /// Notes an answer.
    pub(crate) fn note(&mut self, service: ServiceId, now: Instant) {
        if self.last.is_some_and(|(last, _)| last != service) {
            self.other = self.last;
        }
        self.last = Some((service, now));
    }

    /// Returns when a service other than this one answered last.
    pub(crate) fn of_others(&self, service: ServiceId) -> Option<Instant> {
        let last = self.last.filter(|(last, _)| *last != service);
        last.or(self.other).map(|(_, at)| at)
    }
}

/// How many of the last connections are looked at for their share of failures.
const LOOKED_AT: u32 = 100;

/// How many of them are too many.
const TOO_MANY: u32 = 30;

/// The longest that a service is out unless the operator says longer; in for longer than this, it
/// starts anew with the shortest.
const LONGEST: Duration = Duration::from_secs(300);
