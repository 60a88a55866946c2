//! What no load gets around: the limit of every whole second, and the earnings of a percentage.

use std::time::Duration;

use proptest::prelude::*;
use sluice_balance::{Instant, Method, RampStatus, RampUnit};

use super::load::Load;

/// A load with gaps of any size, some of them none, onto old and new services of any weights.
#[derive(Clone, Debug)]
struct Case {
    method: Method,
    life_ms: Option<u64>,
    old: Vec<u64>,
    new: Vec<u64>,
    rate: u32,
    interval_s: u64,
    gaps_us: Vec<u64>,
}

fn case() -> impl Strategy<Value = Case> {
    let method = prop::sample::select(vec![
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::LeastPackets,
    ]);
    let weights = || prop_oneof![Just(1_u64), 1..=4_u64, 1..=100_u64];
    let gap = prop_oneof![3 => 0..=2_000_u64, 3 => 0..=50_000_u64, 1 => 0..=3_000_000_u64];
    (
        (method, prop::option::of(0..=2_000_u64)),
        (
            prop::collection::vec(weights(), 1..=5),
            prop::collection::vec(weights(), 1..=3),
        ),
        (1..=60_u32, 0..=3_u64),
        prop::collection::vec(gap, 1..400),
    )
        .prop_map(
            |((method, life_ms), (old, new), (rate, interval_s), gaps_us)| Case {
                method,
                life_ms,
                old,
                new,
                rate,
                interval_s,
                gaps_us,
            },
        )
}

/// What was seen at one request.
struct Seen {
    now: Instant,
    chosen: u32,
    /// The ramps of the new services just before it.
    ramps: Vec<Option<RampStatus>>,
}

impl Case {
    fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        (1..).skip(self.old.len()).take(self.new.len())
    }

    /// The new services are bound a fifth of the requests apart.
    fn run(&self, unit: RampUnit) -> Vec<Seen> {
        let life = self.life_ms.map(Duration::from_millis);
        let load = Load::new(self.method, &self.old, 1).with_life(life);
        let mut load = load.with_bytes(100);
        load.set(self.rate, unit, self.interval_s);
        load.rig.engine.handle_booted(load.rig.now);
        let mut to_join = self.numbers().zip(&self.new);
        let mut seen = Vec::new();
        for (index, gap) in self.gaps_us.iter().enumerate() {
            load.rig.now = load.rig.now + Duration::from_micros(*gap);
            if index % (self.gaps_us.len() / 5 + 1) == 0
                && let Some((number, &weight)) = to_join.next()
            {
                load.join(number, weight);
            }
            let shown = load.rig.vserver().bindings;
            let ramps = shown[self.old.len()..].iter().map(|row| row.ramp).collect();
            let (now, chosen) = (load.rig.now, load.request(load.rig.now));
            seen.push(Seen { now, chosen, ramps });
        }
        seen
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_whole_second_holds_more_than_the_limit_and_one(case in case()) {
        let seen = case.run(RampUnit::PerSecond);
        for (index, number) in case.numbers().enumerate() {
            let own = seen.iter().filter(|one| one.chosen == number);
            let own = own.filter_map(|one| Some((one.now, one.ramps.get(index).copied()??)));
            let own: Vec<_> = own.collect();
            for (last, &(end, ramp)) in own.iter().enumerate() {
                let in_second = own[..=last]
                    .iter()
                    .filter(|(start, _)| end.duration_since(*start) <= Duration::from_secs(1));
                let count = in_second.count() as u64;
                prop_assert!(count <= ramp.limit + 1, "{count} up to {end:?} at {ramp:?}");
            }
        }
    }

    #[test]
    fn percentage_is_never_exceeded_by_more_than_the_first_request(case in case()) {
        let seen = case.run(RampUnit::Percent);
        for (index, (number, weight)) in case.numbers().zip(&case.new).enumerate() {
            // What it may take, in parts of which a request has `100 * weights`; those that
            // are no longer new are existing ones, so the parts change.
            let (mut allowed, mut taken) = (Ratio::ONE, 0);
            for one in &seen {
                let Some(ramp) = one.ramps.get(index).copied().flatten() else {
                    continue;
                };
                let is_new = |other: u32| {
                    let new = (other as usize).checked_sub(case.old.len() + 1);
                    new.is_some_and(|new| one.ramps.get(new).is_some_and(Option::is_some))
                };
                let joined = one.ramps.len();
                let all = (1_u32..).zip(case.old.iter().chain(&case.new[..joined]));
                let existing: u64 = all.filter(|(other, _)| !is_new(*other)).map(|(_, w)| w).sum();
                if one.chosen == number {
                    taken += 1;
                    prop_assert!(allowed.is_at_least(taken), "{taken} at {:?}: {ramp:?}", one.now);
                } else if !is_new(one.chosen) {
                    allowed.add(ramp.limit * weight, 100 * existing);
                }
            }
        }
    }
}

/// A sum of fractions, each rounded up to a billionth.
#[derive(Clone, Copy)]
struct Ratio(u128);

impl Ratio {
    const ONE: Self = Self(1_000_000_000);

    fn add(&mut self, share: u64, of: u64) {
        self.0 += (u128::from(share) * 1_000_000_000).div_ceil(u128::from(of));
    }

    fn is_at_least(self, count: u128) -> bool {
        self.0 >= count * 1_000_000_000
    }
}
