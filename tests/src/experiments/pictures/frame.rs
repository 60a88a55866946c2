//! What all pictures share: their page with heading and legend, their colours, points and bars.
//!
//! Colours are those of Okabe and Ito, which colour-blind people can tell apart; each series also has a
//! mark of its own. The legend stands above the data, never on it.

use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::comparison::{Comparison, LIMIT};

/// Where a picture is drawn.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What drawing returns.
pub(super) type Outcome<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;
/// A chart with two axes.
pub(super) type Chart<'c, 'a, X, Y> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<X, Y>>;

pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(super) const VERMILLION: RGBColor = RGBColor(213, 94, 0);
pub(super) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const PURPLE: RGBColor = RGBColor(170, 68, 153);
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const GREY: RGBColor = RGBColor(95, 95, 95);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Line,
    Dashes,
    Dot,
    Ring,
    Fill,
}

/// One entry of a legend.
pub(super) type Entry = (&'static str, RGBColor, Mark);

/// Draws a page with `heading`, `subtitle` and legend; `chart` gets the rest of it.
pub(super) fn page(
    heading: &str,
    subtitle: &str,
    legend: &[Entry],
    chart: impl for<'a> FnOnce(&Area<'a>) -> Outcome,
) -> String {
    let mut svg = String::new();
    let draw = |svg: &mut String| -> Outcome {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(HEAD_HEIGHT);
        head.draw(&Text::new(heading.to_owned(), (LEFT, 18), font(23, INK)))?;
        head.draw(&Text::new(subtitle.to_owned(), (LEFT, 50), font(15, GREY)))?;
        let mut x = LEFT;
        for entry in legend {
            x = draw_entry(&head, entry, x)?;
        }
        chart(&body)?;
        area.present()
    };
    draw(&mut svg).expect("a string takes all that is written to it");
    svg
}

/// Returns a style for text.
pub(super) fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

/// Returns a style for text that stands in the middle of its point.
pub(super) fn centred(size: u32, colour: RGBColor) -> TextStyle<'static> {
    font(size, colour).pos(Pos::new(HPos::Center, VPos::Center))
}

/// Draws the axes.
pub(super) fn axes<X, Y>(
    chart: &mut Chart<'_, '_, X, Y>,
    names: [&str; 2],
    labels: [&dyn Fn(&f64) -> String; 2],
    counts: [usize; 2],
) -> Outcome
where
    X: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GREY)
        .x_desc(names[0])
        .y_desc(names[1])
        .axis_desc_style(font(16, INK))
        .label_style(font(14, INK))
        .x_labels(counts[0])
        .y_labels(counts[1])
        .x_label_formatter(labels[0])
        .y_label_formatter(labels[1])
        .draw()
}

/// Draws a line of theory.
pub(super) fn line<X, Y>(
    chart: &mut Chart<'_, '_, X, Y>,
    points: impl IntoIterator<Item = (f64, f64)>,
    colour: RGBColor,
    mark: Mark,
) -> Outcome
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = colour.stroke_width(2);
    let points = points.into_iter().collect::<Vec<_>>().into_iter();
    match mark {
        Mark::Line => chart.draw_series(LineSeries::new(points, style)).map(drop),
        Mark::Dashes => chart
            .draw_series(DashedLineSeries::new(points, 6, 4, style))
            .map(drop),
        Mark::Dot | Mark::Ring | Mark::Fill => unreachable!("a line is not made of points"),
    }
}

/// Draws counts as points, with bars that show how far from theory chance may take them; a bar ends at
/// `floor`, where the axis does.
pub(super) fn points<'c, X, Y>(
    chart: &mut Chart<'_, '_, X, Y>,
    counts: impl IntoIterator<Item = (f64, &'c Comparison)>,
    colour: RGBColor,
    mark: Mark,
    floor: f64,
) -> Outcome
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    for (x, count) in counts {
        let (y, reach) = (count.simulated(), LIMIT * count.sigma());
        let (low, high) = ((y - reach).max(floor), (y + reach).min(1.0));
        let bar = PathElement::new(vec![(x, low), (x, high)], colour.stroke_width(1));
        let point = |radius, style: ShapeStyle| Circle::new((x, y), radius, style);
        chart.draw_series([bar])?;
        match mark {
            Mark::Ring => {
                chart.draw_series([point(6, WHITE.filled()), point(6, colour.stroke_width(2))])?;
            }
            Mark::Dot | Mark::Fill | Mark::Line | Mark::Dashes => {
                chart.draw_series([point(4, colour.filled())])?;
            }
        }
    }
    Ok(())
}

/// Draws an entry of the legend at `x`; returns where the next one goes.
fn draw_entry(head: &Area<'_>, &(label, colour, mark): &Entry, x: i32) -> Outcome<i32> {
    let y = LEGEND_TOP + 9;
    let stroke = colour.stroke_width(2);
    let dash = |from: i32, to: i32| PathElement::new(vec![(x + from, y), (x + to, y)], stroke);
    match mark {
        Mark::Line => head.draw(&dash(0, 26))?,
        Mark::Dashes => {
            for from in [0, 10, 20] {
                head.draw(&dash(from, from + 6))?;
            }
        }
        Mark::Dot => head.draw(&Circle::new((x + 20, y), 4, colour.filled()))?,
        Mark::Ring => head.draw(&Circle::new((x + 20, y), 6, stroke))?,
        Mark::Fill => head.draw(&Rectangle::new(
            [(x, y - 8), (x + 26, y + 6)],
            colour.filled(),
        ))?,
    }
    head.draw(&Text::new(label, (x + 33, LEGEND_TOP + 1), font(15, INK)))?;
    let width = |letter: char| if letter.is_ascii_uppercase() { 9 } else { 7 };
    let width: i32 = label.chars().map(width).sum();
    Ok(x + 33 + width + 16)
}

const SIZE: (u32, u32) = (960, 564);
const HEAD_HEIGHT: u32 = 112;
const LEGEND_TOP: i32 = 78;
const LEFT: i32 = 24;
