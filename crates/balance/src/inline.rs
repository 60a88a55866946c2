//! What the connections of one service say of it: TCP-INLINE.
//!
//! Owns the record of one service: its last connections, and whether it is out because of them.
//!
//! ```text
//!        `retries` failures in a row, or `share` of the last `sample`
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
//! did. After the first exchange of a flow only a reset by the service with client data unanswered
//! counts: there clients say things that nobody answers, as the alert by which TLS takes its leave.
//! UDP and one-way services are not watched for silence.
//!
//! Whether a service may go out, and who has answered, is in `engine::inline`.
//!
//! Invariants: `outcomes` has a bit for each of the last connections, the newest lowest, set for a
//! failed one, and `seen` says how many there are; both are empty while it is not In. `total` and
//! `failed` count what was counted there and what trials decided, and are never taken back.

use std::time::Duration;

use crate::waiting::FlowSlot;
use crate::{InlineFailure, InlineStatus, Instant, OutBecause, Percent, ServiceId};

/// How services are watched by their own connections.
///
/// `retries` failures in a row make a service DOWN, and `share` of the last `sample`. A failure is a
/// connect that was refused or timed out, a reset or close by the service with client data
/// unanswered, and client data that is not answered for `response_timeout`, or until the client
/// gives up, if another service of the virtual server has answered since. A service that is out
/// takes one flow at a time after its time, until one is answered; if it fails, it is out again for
/// twice as long, up to `max_down_time`. At most half of the services of a virtual server are out
/// this way, never the last; what the operator enables, is not.
///
/// Source: own choice, beyond the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassiveSettings {
    /// Whether they are.
    pub enabled: bool,
    /// How many connections in a row fail that make a service DOWN; at least 1.
    pub retries: u8,
    /// Which share of the last `sample` connections, all of which must have been seen, makes a service
    /// DOWN however they are mixed; zero is none.
    pub share: Percent,
    /// How many connections `share` is of: 1 to 100, others count as the nearest of these.
    pub sample: u8,
    /// How long client data may be unanswered before that is silence.
    pub response_timeout: Duration,
    /// How long a service is out the first time.
    pub down_time: Duration,
    /// How long it is out at most, each further time being twice as long as the one before. Less than
    /// `down_time` counts as that. A service that has been in for longer starts anew with `down_time`.
    pub max_down_time: Duration,
}

impl PassiveSettings {
    /// Returns how many of the last connections are looked at for their share of failures.
    fn looked_at(&self) -> u32 {
        u32::from(self.sample).clamp(1, KEPT)
    }
}

/// How services are watched unless it is told otherwise: 9 in a row, 30 % of 100, 5 s; out for 10 s, up
/// to 5 minutes.
impl Default for PassiveSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            retries: 9,
            share: Percent::new(30).expect("it is below 100"),
            sample: 100,
            response_timeout: Duration::from_secs(5),
            down_time: Duration::from_secs(10),
            max_down_time: Duration::from_secs(300),
        }
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
    /// How often it ever went out.
    outs: u64,
    total: u64,
    failed: u64,
    /// The last failure that counted.
    last_failure: Option<(InlineFailure, Instant)>,
    /// Why it went out last.
    because: Option<OutBecause>,
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
    GoesOut(OutBecause),
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

    /// Shows the record; `is_watched` says whether the service is of a kind that is.
    pub(crate) fn status(&self, is_watched: bool, settings: &PassiveSettings) -> InlineStatus {
        let is_suspect = self.is_suspect();
        InlineStatus {
            is_watched: is_watched && settings.enabled,
            out_until: self.out_until(),
            is_on_trial: matches!(self.place, Place::Trial(_)),
            because: self.because.filter(|_| is_suspect),
            failed_in_a_row: self.in_a_row,
            failed: self.failed_lately(settings),
            seen: self.seen.min(settings.looked_at()),
            last_failure: self.last_failure,
            last_answer: self.answered,
            total: self.total,
            failed_total: self.failed,
            times_out: self.outs,
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
                self.total += 1;
                self.come_back(now);
                Effect::IsBack
            }
            Place::Out(_) | Place::Trial(_) => Effect::None,
        }
    }

    /// Notes a flow that failed.
    pub(crate) fn fail(
        &mut self,
        flow: FlowSlot,
        failure: InlineFailure,
        settings: &PassiveSettings,
        now: Instant,
    ) -> Effect {
        match self.place {
            Place::In => {
                self.last_failure = Some((failure, now));
                self.count(true);
                self.too_many(settings)
                    .map_or(Effect::None, Effect::GoesOut)
            }
            Place::Trial(Some((trial, _))) if trial == flow => {
                self.last_failure = Some((failure, now));
                self.total += 1;
                self.failed += 1;
                Effect::IsOutAgain
            }
            Place::Out(_) | Place::Trial(_) => Effect::None,
        }
    }

    /// Returns which rule the last failure has broken.
    fn too_many(&self, settings: &PassiveSettings) -> Option<OutBecause> {
        if self.in_a_row >= u32::from(settings.retries.max(1)) {
            return Some(OutBecause::InARow(self.in_a_row));
        }
        let of = settings.looked_at();
        let failed = self.failed_lately(settings);
        let share = settings.share.value();
        let is_share =
            share > 0 && self.seen >= of && u64::from(failed) * 100 >= share * u64::from(of);
        is_share.then_some(OutBecause::Share { failed, of })
    }

    fn failed_lately(&self, settings: &PassiveSettings) -> u32 {
        (self.outcomes & newest(settings.looked_at())).count_ones()
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
    pub(crate) fn go_out(&mut self, because: OutBecause, settings: &PassiveSettings, now: Instant) {
        let longest = settings.max_down_time.max(settings.down_time);
        if self.place == Place::In && now.duration_since(self.back) > longest {
            self.times_out = 0;
        }
        let doubled = settings
            .down_time
            .saturating_mul(1 << self.times_out.min(16));
        self.times_out = self.times_out.saturating_add(1);
        self.outs += 1;
        self.because = Some(because);
        self.place = Place::Out(now + doubled.min(longest));
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
        self.outcomes = ((self.outcomes << 1) | u128::from(failed)) & newest(KEPT);
        self.seen = (self.seen + 1).min(KEPT);
        self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
        self.total += 1;
        self.failed += u64::from(failed);
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

/// Returns the bits of so many of the newest connections, fewer than 128.
fn newest(count: u32) -> u128 {
    (1 << count) - 1
}

/// How many of the last connections are kept.
const KEPT: u32 = 100;
