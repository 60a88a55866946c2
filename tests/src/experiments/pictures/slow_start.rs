//! How the load is distributed during a slow start: the services stacked, second by second.

use plotters::prelude::*;

use super::super::slow_start::{Example, SERVICES};
use super::frame::{self, Area, Entry, Mark, Outcome};

/// Draws an example from its requests in each second.
pub(super) fn draw(example: &Example, rows: &[Vec<u64>]) -> String {
    let legend: [Entry; 2] = [
        ("services that were there", OLD[0], Mark::Fill),
        ("new services", NEW[0], Mark::Fill),
    ];
    frame::page(example.title, example.subtitle, &legend, |area| {
        chart(area, example, rows)
    })
}

/// Draws what the new service gets with methods that remember and one that does not.
pub(super) fn methods(newcomers: &[Vec<u64>; 3]) -> String {
    let series: [Entry; 3] = [
        ("ROUNDROBIN", frame::BLUE, Mark::Line),
        ("LEASTBANDWIDTH", frame::GREEN, Mark::Line),
        (
            "LEASTCONNECTION, nobody hangs up",
            frame::VERMILLION,
            Mark::Line,
        ),
    ];
    let title = "Slow start, automatic: what the fifth service gets, by method";
    let subtitle = "100 requests/s, limit 4 more every 10 s, after 20 s with four services; all alike up to \
        50 s; dashed: the limit, and a full share";
    frame::page(title, subtitle, &series, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_left(16)
            .margin_right(28)
            .margin_bottom(10)
            .x_label_area_size(46)
            .y_label_area_size(62)
            .build_cartesian_2d(0.0..120.0, 0.0..50.0)?;
        let plain = |value: &f64| format!("{value:.0}");
        frame::axes(
            &mut chart,
            ["time since the bind (s)", "requests/s"],
            [&plain, &plain],
            [13, 11],
        )?;
        let limit = (0..12_u8).flat_map(|step| {
            let (from, level) = (10.0 * f64::from(step), 4.0 * f64::from(step + 1));
            [(from, level), (from + 10.0, level)]
        });
        frame::line(&mut chart, limit, frame::GREY, Mark::Dashes)?;
        frame::line(
            &mut chart,
            [(0.0, 20.0), (120.0, 20.0)],
            frame::GREY,
            Mark::Dashes,
        )?;
        for (seconds, (_, colour, mark)) in newcomers.iter().zip(series).rev() {
            let steps = seconds.iter().enumerate().flat_map(|(second, &count)| {
                [
                    (second as f64, count as f64),
                    (second as f64 + 1.0, count as f64),
                ]
            });
            frame::line(&mut chart, steps, colour, mark)?;
        }
        Ok(())
    })
}

fn chart(area: &Area<'_>, example: &Example, rows: &[Vec<u64>]) -> Outcome {
    let (start, total) = (example.start as f64, example.rate as f64);
    let end = start + rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_left(16)
        .margin_right(56)
        .margin_bottom(10)
        .x_label_area_size(46)
        .y_label_area_size(62)
        .build_cartesian_2d(start..end, 0.0..total * 1.12)?;
    let plain = |value: &f64| format!("{value:.0}");
    frame::axes(
        &mut chart,
        ["time (s)", "requests/s, stacked"],
        [&plain, &plain],
        [14, 8],
    )?;
    // The grid would cross the notes above the bands.
    let notes = [(start, total), (end, total * 1.12)];
    chart.draw_series([Rectangle::new(notes, WHITE.filled())])?;
    for service in 0..SERVICES {
        let band = outline(start, rows, service);
        chart.draw_series([Polygon::new(
            band.clone(),
            colour(example, service).filled(),
        )])?;
        chart.draw_series([PathElement::new(band, WHITE.stroke_width(2))])?;
    }
    let mut from = start;
    for (phase, means) in example.phases.iter().zip(example.means(rows)) {
        let (to, middle) = (phase.end as f64, (from + phase.end as f64) / 2.0);
        let note = (middle, total * 1.06);
        chart.draw_series([Text::new(phase.note, note, frame::centred(14, frame::INK))])?;
        let mut below = 0.0;
        for mean in means.into_iter().filter(|mean| *mean > 0.0) {
            let place = (middle, below + mean / 2.0);
            let size = if mean * 14.0 < total { 12 } else { 15 };
            chart.draw_series([Text::new(
                number(mean),
                place,
                frame::centred(size, frame::INK),
            )])?;
            below += mean;
        }
        let edge = vec![(from, 0.0), (from, total * 1.12)];
        chart.draw_series([PathElement::new(edge, frame::GREY.stroke_width(1))])?;
        from = to;
    }
    name_bands(area, &chart, end, rows)
}

/// Writes the name of each service beside the end of its band.
fn name_bands<X, Y>(
    area: &Area<'_>,
    chart: &frame::Chart<'_, '_, X, Y>,
    end: f64,
    rows: &[Vec<u64>],
) -> Outcome
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let last = rows.last().expect("an example has seconds");
    let (origin_x, origin_y) = area.get_base_pixel();
    let mut below = 0.0;
    for (service, &requests) in last
        .iter()
        .enumerate()
        .filter(|(_, requests)| **requests > 0)
    {
        let (x, y) = chart.backend_coord(&(end, below + requests as f64 / 2.0));
        let place = (x - origin_x + 24, y - origin_y);
        let name = format!("s{}", service + 1);
        area.draw(&Text::new(name, place, frame::centred(15, frame::INK)))?;
        below += requests as f64;
    }
    Ok(())
}

/// Returns the outline of a service's band: along its lower edge, and back along its upper one.
fn outline(start: f64, rows: &[Vec<u64>], service: usize) -> Vec<(f64, f64)> {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (second, row) in rows.iter().enumerate() {
        let below: u64 = row[..service].iter().sum();
        let (low, high) = (below as f64, (below + row[service]) as f64);
        let (from, to) = (start + second as f64, start + second as f64 + 1.0);
        lower.extend([(from, low), (to, low)]);
        upper.extend([(from, high), (to, high)]);
    }
    upper.reverse();
    lower.extend(upper);
    lower
}

fn colour(example: &Example, service: usize) -> RGBColor {
    let family = if service < example.old { OLD } else { NEW };
    family[service % 2]
}

/// Whole numbers as such, others with a digit.
fn number(mean: f64) -> String {
    if mean.fract() == 0.0 {
        format!("{mean:.0}")
    } else {
        format!("{mean:.1}")
    }
}

const OLD: [RGBColor; 2] = [RGBColor(140, 196, 232), RGBColor(176, 214, 240)];
const NEW: [RGBColor; 2] = [RGBColor(240, 173, 78), RGBColor(246, 200, 130)];
