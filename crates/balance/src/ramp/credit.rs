//! What a new service may still take: a number of requests, exact in integers.
//!
//! Units: a request is 10^9 parts. A limit in requests per second times a time in nanoseconds is
//! then a number of parts, without rounding. A share of a request keeps the rest of its division
//! and adds it to the next one, so nothing drifts; the rest is dropped, and less than one part
//! with it, only when the weights that make up the divisor change.

/// The credit of one ramp. It starts at one request.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    parts: u128,
    /// What the last division left over, in `1 / divisor` of a part.
    rest: u128,
    divisor: u128,
}

impl Credit {
    /// Makes the credit of a service that has just become new.
    pub(super) fn new() -> Self {
        Self {
            parts: ONE,
            rest: 0,
            divisor: 1,
        }
    }

    /// Whether it pays for a request.
    pub(super) fn has_one(&self) -> bool {
        self.parts >= ONE
    }

    /// Pays for a request, or for as much of it as there is; returns the parts paid.
    pub(super) fn pay(&mut self) -> u32 {
        let paid = self.parts.min(ONE);
        self.parts -= paid;
        u32::try_from(paid).expect("a request has fewer parts than 32 bits count")
    }

    /// Takes back what was paid for a request that did not come about.
    pub(super) fn pay_back(&mut self, paid: u32) {
        self.fill(u128::from(paid), BOUND);
    }

    /// Grows by parts: requests per second times nanoseconds.
    pub(super) fn grow(&mut self, parts: u128) {
        self.fill(parts, BOUND);
    }

    /// Grows by `share / of` of a request.
    ///
    /// It stays below two, or, where one such share is more than a request, below one and the
    /// share: as much has to last from one share to the next.
    pub(super) fn earn(&mut self, share: u128, of: u128) {
        if of != self.divisor {
            self.rest = 0;
            self.divisor = of;
        }
        let earned = share.saturating_mul(ONE).saturating_add(self.rest);
        self.rest = earned % of;
        let parts = earned / of;
        self.fill(parts, BOUND.max(parts.saturating_add(ONE - 1)));
    }

    /// Loses `share / of` of a request again, as far as it is still there.
    pub(super) fn lose(&mut self, share: u128, of: u128) {
        self.parts = self.parts.saturating_sub(share.saturating_mul(ONE) / of);
    }

    /// Drops what growth by time could not have reached.
    pub(super) fn bound(&mut self) {
        self.parts = self.parts.min(BOUND);
    }

    /// Adds `parts` up to `bound`; what lies above it already stays.
    fn fill(&mut self, parts: u128, bound: u128) {
        let filled = self.parts.saturating_add(parts).min(bound);
        self.parts = self.parts.max(filled);
    }
}

/// The parts of a request: as many as a second has nanoseconds.
pub(super) const ONE: u128 = 1_000_000_000;

/// The most that credit keeps: less than two requests, so that `limit + 1` is the most in a second.
const BOUND: u128 = 2 * ONE - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(credit: &mut Credit) -> u32 {
        let mut count = 0;
        while credit.has_one() {
            credit.pay();
            count += 1;
        }
        count
    }

    #[test]
    fn thirds_and_sevenths_add_up_without_drift() {
        let mut credit = Credit::new();
        credit.pay();
        for _ in 0..7_000_000_u32 {
            credit.earn(1, 7_000_000);
        }
        assert_eq!((credit.parts, credit.rest), (ONE, 0));
        assert_eq!(credit.pay(), 1_000_000_000);
        (0..2).for_each(|_| credit.earn(1, 3));
        assert!(!credit.has_one());
        credit.earn(1, 3);
        assert!(credit.has_one());
    }

    #[test]
    fn time_never_lifts_it_to_two_requests() {
        let mut credit = Credit::new();
        credit.grow(u128::MAX);
        assert_eq!(credit.parts, 1_999_999_999);
        assert_eq!(taken(&mut credit), 1);
    }

    #[test]
    fn share_of_many_requests_can_be_taken_as_many_times() {
        let mut credit = Credit::new();
        credit.pay();
        credit.earn(11, 2);
        assert_eq!(taken(&mut credit), 5);
        credit.earn(11, 2);
        assert_eq!(taken(&mut credit), 6);
        // What is not taken does not heap up.
        (0..100).for_each(|_| credit.earn(11, 2));
        assert_eq!(credit.parts, 6_499_999_999);
        credit.bound();
        assert_eq!(credit.parts, 1_999_999_999);
    }

    #[test]
    fn request_that_finds_too_little_takes_what_there_is_and_gives_it_back() {
        let mut credit = Credit::new();
        credit.pay();
        credit.grow(250_000_000);
        let paid = credit.pay();
        assert_eq!((paid, credit.parts), (250_000_000, 0));
        credit.pay_back(paid);
        assert_eq!(credit.parts, 250_000_000);
        credit.lose(1, 8);
        assert_eq!(credit.parts, 125_000_000);
        credit.lose(1, 1);
        assert_eq!(credit.parts, 0);
    }
}
