//! What is lost to faulty services: theory as lines, counts as points with bars of 4 sigma.

use plotters::coord::combinators::WithKeyPoints;
use plotters::prelude::*;

use super::super::comparison::Comparison;
use super::super::reliability::{K, Q, Reliability};
use super::super::theory;
use super::frame::{
    self, Area, BLUE, Chart, Entry, GREEN, GREY, Mark, Outcome, PURPLE, VERMILLION,
};

/// Draws which share of actions succeeds, over the fraction of services that hang.
pub(super) fn actions(numbers: &Reliability, seed: u64) -> String {
    let legend: [Entry; 6] = [
        ("theory", GREY, Mark::Line),
        ("ROUNDROBIN", BLUE, Mark::Dot),
        ("RANDOM", GREEN, Mark::Ring),
        ("LEASTCONNECTION", VERMILLION, Mark::Dot),
        ("a client's calls in a row: theory", PURPLE, Mark::Dashes),
        ("counted", PURPLE, Mark::Ring),
    ];
    let subtitle = format!(
        "20 services, the fraction p hangs; a good call takes 10 ms, clients give up after 1 s; \
            closed loop, 100 calls under way; seed {seed}"
    );
    let title = "Actions of three calls that succeed";
    frame::page(title, &subtitle, &legend, |area| {
        actions_chart(area, numbers)
    })
}

fn actions_chart(area: &Area<'_>, numbers: &Reliability) -> Outcome {
    let mut chart = builder(area).build_cartesian_2d(-0.02..1.02, -0.02..1.03)?;
    let label = |value: &f64| format!("{value:.1}");
    let names = [
        "p, the fraction of services that hang",
        "f(p), the share of actions that succeed",
    ];
    frame::axes(&mut chart, names, [&label, &label], [11, 11])?;
    let over_p = |f: fn(f64) -> f64| {
        (0..=200_u8)
            .map(move |i| f64::from(i) / 200.0)
            .map(move |p| (p, f(p)))
    };
    let in_turn = |p| theory::action(1.0 - p, K);
    let least = |p| theory::action(1.0 - theory::minimum_concurrency(p, Q), K);
    let same = |p| theory::same_client(p, Q, K);
    frame::line(&mut chart, over_p(in_turn), BLUE, Mark::Line)?;
    frame::line(&mut chart, over_p(least), VERMILLION, Mark::Line)?;
    frame::line(&mut chart, over_p(same), PURPLE, Mark::Dashes)?;
    for (series, colour, mark) in [
        (3, PURPLE, Mark::Ring),
        (1, GREEN, Mark::Ring),
        (0, BLUE, Mark::Dot),
        (2, VERMILLION, Mark::Dot),
    ] {
        let counts = numbers.actions.iter().map(|(p, row)| (*p, &row[series]));
        frame::points(&mut chart, counts, colour, mark, 0.0)?;
    }
    Ok(())
}

/// Draws which share of calls is lost, over the number of clients in a closed loop.
pub(super) fn closed_loop(numbers: &Reliability, seed: u64) -> String {
    let subtitle = format!(
        "Closed loop; a good call takes 10 ms, clients give up after 1 s; bars: 4 sigma; seed \
            {seed}"
    );
    let title = "Calls lost when one of five services hangs, by number of clients";
    frame::page(title, &subtitle, &LOSSES, |area| {
        let mut chart = builder(area).build_cartesian_2d(0.5..20.5, shares(0.0015))?;
        let names = ["clients", "share of calls lost"];
        frame::axes(&mut chart, names, [&whole, &percent], [20, 8])?;
        let clients = numbers.clients.iter();
        let rows = clients
            .map(|(clients, row)| (*clients as f64, row))
            .collect::<Vec<_>>();
        let least = rows.iter().map(|(x, row)| (*x, row[0].theory));
        losses(&mut chart, &rows, least, 0.0015)
    })
}

/// Draws which share of calls is lost, over their rate in an open loop.
pub(super) fn open_loop(numbers: &Reliability, seed: u64) -> String {
    let subtitle = format!(
        "Open loop, calls arrive at random; a good call takes 10 ms, clients give up after 1 s; \
            bars: 4 sigma; seed {seed}"
    );
    let title = "Calls lost when one of five services hangs, by rate of calls";
    frame::page(title, &subtitle, &LOSSES, |area| {
        let rates_axis = (1.7..480.0)
            .log_scale()
            .with_key_points(RATE_LABELS.to_vec());
        let mut chart = builder(area).build_cartesian_2d(rates_axis, shares(0.003))?;
        let names = ["calls/s", "share of calls lost"];
        frame::axes(&mut chart, names, [&whole, &percent], [10, 8])?;
        let rates = || (0..=60_u8).map(|i| 2.0 * 10_f64.powf(f64::from(i) / 60.0 * 1.4));
        let rows = numbers.rates.iter();
        let rows = rows.map(|(rate, row)| (*rate, row)).collect::<Vec<_>>();
        let least = rates().map(|rate| (rate, theory::light_load(rate, 5)));
        losses(&mut chart, &rows, least, 0.003)
    })
}

/// Draws the series of [`LOSSES`]; the line of LEASTCONNECTION has points of its own.
fn losses<X, Y, const N: usize>(
    chart: &mut Chart<'_, '_, X, Y>,
    rows: &[(f64, &[Comparison; N])],
    least: impl IntoIterator<Item = (f64, f64)>,
    floor: f64,
) -> Outcome
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let in_turn = rows.iter().map(|(x, row)| (*x, row[1].theory));
    frame::line(chart, in_turn, BLUE, Mark::Line)?;
    frame::line(chart, least, VERMILLION, Mark::Line)?;
    for (series, colour) in [(1, BLUE), (0, VERMILLION)] {
        let counts = rows.iter().map(|(x, row)| (*x, &row[series]));
        frame::points(chart, counts, colour, Mark::Dot, floor)?;
    }
    Ok(())
}

fn builder<'c, 'a>(area: &'c Area<'a>) -> ChartBuilder<'c, 'c, SVGBackend<'a>> {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_left(16)
        .margin_right(28)
        .margin_bottom(10)
        .x_label_area_size(46)
        .y_label_area_size(66);
    builder
}

/// Returns an axis of shares from `floor` on.
fn shares(floor: f64) -> WithKeyPoints<LogCoord<f64>> {
    let labels = SHARE_LABELS.into_iter().filter(|label| *label > floor);
    (floor..0.4).log_scale().with_key_points(labels.collect())
}

fn whole(value: &f64) -> String {
    format!("{value:.0}")
}

fn percent(value: &f64) -> String {
    format!("{} %", (value * 10_000.0).round() / 100.0)
}

const SHARE_LABELS: [f64; 8] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

const RATE_LABELS: [f64; 8] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0];

const LOSSES: [Entry; 4] = [
    ("ROUNDROBIN, theory", BLUE, Mark::Line),
    ("counted", BLUE, Mark::Dot),
    ("LEASTCONNECTION, theory", VERMILLION, Mark::Line),
    ("counted", VERMILLION, Mark::Dot),
];
