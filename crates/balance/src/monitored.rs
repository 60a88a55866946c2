//! What monitors measure: how long a service takes to answer a probe, and what load it reports.
//!
//! Owns the last values of a service, and what those of a virtual server's services come to. Values
//! are handed in as they are to be compared: who has several monitors of a service averages first.
//!
//! Invariant: a virtual server's sums are those of its services that are UP.

use std::time::Duration;

/// The last values of one service; none that no monitor gives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MonitorValues {
    /// The response time, in nanoseconds.
    time: Option<u64>,
    load: Option<u64>,
}

impl MonitorValues {
    /// Takes another response time.
    pub(crate) fn set_time(&mut self, time: Option<Duration>) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.time = time.map(|time| nanos(time).min(LONGEST_NANOS));
    }

    /// Takes another load.
    pub(crate) fn set_load(&mut self, load: Option<u64>) {
        self.load = load;
    }

    /// Returns the response time in nanoseconds.
    #[inline]
    pub(crate) fn time(&self) -> Option<u64> {
        self.time
    }

    /// Returns the load.
    #[inline]
    pub(crate) fn load(&self) -> Option<u64> {
        self.load
    }
}

/// The values of several services together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Monitored {
    /// The sum of the response times, and how many these are.
    times: u64,
    timed: u64,
    /// Services without a load.
    unloaded: u64,
}

impl Monitored {
    /// Sums up services.
    pub(crate) fn of(services: impl Iterator<Item = MonitorValues>) -> Self {
        services.fold(Self::default(), |mut sum, values| {
            sum.add(values);
            sum
        })
    }

    /// Takes the new values of a service in place of its former ones.
    pub(crate) fn replace(&mut self, former: MonitorValues, values: MonitorValues) {
        self.times -= former.time.unwrap_or(0);
        self.timed -= u64::from(former.time.is_some());
        self.unloaded -= u64::from(former.load.is_none());
        self.add(values);
    }

    /// Returns the mean response time in nanoseconds; 0 if there is none.
    pub(crate) fn mean_time(&self) -> u64 {
        self.times.checked_div(self.timed).unwrap_or(0)
    }

    /// Whether each of the services has a load.
    pub(crate) fn all_loaded(&self) -> bool {
        self.unloaded == 0
    }

    fn add(&mut self, values: MonitorValues) {
        self.times += values.time.unwrap_or(0);
        self.timed += u64::from(values.time.is_some());
        self.unloaded += u64::from(values.load.is_none());
    }
}

/// The longest time that is told from longer ones, 19 hours: the sum of many thousands fits 64 bits.
const LONGEST_NANOS: u64 = 1 << 46;
