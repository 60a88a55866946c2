//! What a failing service costs clients of the real daemon, by method: the share of calls lost, with
//! TCP-INLINE and without.

use plotters::prelude::*;

use super::frame::{self, Area, BLUE, Entry, GREEN, GREY, Mark, Outcome, PURPLE, VERMILLION};
use crate::failing::target::formula;
use crate::failing::{CLIENTS, Cell, Fault, METHODS, Measured};

/// Draws the results with the most clients.
pub(super) fn draw(results: &[Measured], seed: u64) -> String {
    let legend: [Entry; 5] = [
        ("hangs, without", VERMILLION, Mark::Ring),
        ("hangs, with TCP-INLINE", BLUE, Mark::Dot),
        ("closes, without", PURPLE, Mark::Ring),
        ("closes, with TCP-INLINE", GREEN, Mark::Dot),
        ("formula", GREY, Mark::Line),
    ];
    let subtitle = format!(
        "Real sockets; one of five services hangs or closes at once; {} clients in a closed loop give up \
            after 1 s; seed {seed}",
        most_clients()
    );
    let title = "Calls lost to a failing service, by method";
    frame::page(title, &subtitle, &legend, |area| chart(area, results))
}

fn chart(area: &Area<'_>, results: &[Measured]) -> Outcome {
    let shares = (FLOOR..1.5).log_scale();
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(76)
        .build_cartesian_2d(-0.5..5.5, shares)?;
    let method = |at: &f64| {
        let place = METHODS.iter().zip(0_u8..);
        let found = place.map(|(method, at)| (method, f64::from(at)));
        let mut found = found.filter(|(_, place)| (place - at).abs() < 0.01);
        found
            .next()
            .map_or_else(String::new, |(method, _)| (*method).to_owned())
    };
    let percent = |share: &f64| format!("{} %", share * 100.0);
    let names = ["method", "share of calls lost"];
    frame::axes(&mut chart, names, [&method, &percent], [6, 6])?;
    for (place, method) in (0_u8..).zip(METHODS) {
        for (fault, watched, offset, colour) in [
            (Fault::Hang, false, -0.24, VERMILLION),
            (Fault::Hang, true, -0.08, BLUE),
            (Fault::FastClose, false, 0.08, PURPLE),
            (Fault::FastClose, true, 0.24, GREEN),
        ] {
            let cell = Cell {
                fault,
                clients: most_clients(),
                method,
                watched,
            };
            let Some(measured) = results.iter().find(|measured| measured.cell == cell) else {
                continue;
            };
            let x = f64::from(place) + offset;
            if let Some(theory) = formula(measured).filter(|share| *share > FLOOR) {
                let width = [(x - 0.07, theory), (x + 0.07, theory)];
                frame::line(&mut chart, width, GREY, Mark::Line)?;
            }
            let share = measured.tally.lost_share().unwrap_or(0.0).max(FLOOR);
            let style = if watched {
                colour.filled()
            } else {
                colour.stroke_width(2)
            };
            chart.draw_series([Circle::new((x, share), 5, style)])?;
        }
    }
    Ok(())
}

fn most_clients() -> usize {
    CLIENTS[CLIENTS.len() - 1]
}

/// The least share that is drawn: one call in a hundred thousand, and none.
const FLOOR: f64 = 1e-5;
