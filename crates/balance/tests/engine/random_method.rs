//! RANDOM: its shares, and that chance replays.

use sluice_balance::{Change, CloseReason, Engine, Instant, Method, ServiceId, VserverId};

use crate::rig::{V, bind, flow, service, vserver};

fn engine(seed: u64, weights: &[u64]) -> Engine {
    let mut engine = Engine::with_seed(seed);
    let now = Instant::default();
    engine.apply(&Change::AddVserver(V, vserver(Method::Random)), now);
    for (number, &weight) in (1..).zip(weights) {
        engine.apply(&Change::AddService(ServiceId(number), service()), now);
        engine.apply(&Change::Bind(bind(V, number, weight)), now);
    }
    engine
}

fn pick(engine: &mut Engine, vserver: VserverId) -> u32 {
    let now = Instant::default();
    let selection = engine.select(vserver, &flow(), &[], now).unwrap();
    let number = selection.reservation.service().0;
    engine.handle_close(selection.reservation, CloseReason::Finished, now);
    number
}

fn picks(seed: u64, count: usize) -> Vec<u32> {
    let mut engine = engine(seed, &[1, 2, 3, 4]);
    (0..count).map(|_| pick(&mut engine, V)).collect()
}

#[test]
fn seed_decides_all_choices() {
    assert_eq!(picks(7, 1_000), picks(7, 1_000));
    assert_ne!(picks(7, 1_000), picks(8, 1_000));
    assert_eq!(picks(0, 12), [4, 4, 2, 4, 3, 4, 2, 4, 3, 1, 4, 4]);
}

#[test]
fn shares_are_those_of_the_weights_within_four_sigma() {
    let count = 100_000;
    for seed in [1, 2, 3] {
        let chosen = picks(seed, count);
        for weight in 1..=4 {
            let share = f64::from(weight) / 10.0;
            let expected = count as f64 * share;
            let found = chosen.iter().filter(|number| **number == weight).count() as f64;
            let sigma = (expected * (1.0 - share)).sqrt();
            let off = (found - expected).abs();
            assert!(
                off <= 4.0 * sigma,
                "seed {seed}, weight {weight}: off by {off}"
            );
        }
    }
}

#[test]
fn service_that_is_not_up_is_never_thrown() {
    let mut engine = engine(5, &[1, 100, 1]);
    let mut settings = service();
    settings.enabled = false;
    engine.apply(
        &Change::SetService(ServiceId(2), settings),
        Instant::default(),
    );
    assert!((0..1_000).all(|_| pick(&mut engine, V) != 2));
}
