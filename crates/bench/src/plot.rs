//! The ratios as a picture: one bar a figure, beyond the line is ahead.

use std::path::Path;

use plotters::prelude::*;

use crate::fault::Fault;
use crate::report::Standing;

/// Draws how we stand to the best other relay in each figure.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn draw(path: &Path, standings: &[Standing]) -> Result<(), Fault> {
    let count = standings.len();
    let height = u32::try_from(120 + 26 * count).unwrap_or(u32::MAX);
    let root = SVGBackend::new(path, (960, height)).into_drawing_area();
    let draw = || -> Result<(), Box<dyn std::error::Error>> {
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Sluice against the best other relay", ("sans-serif", 20))
            .margin(12)
            .margin_left(190)
            .x_label_area_size(40)
            .build_cartesian_2d(0.0..WIDEST * 1.25, 0.0..f64::from(u32::try_from(count)?))?;
        chart
            .configure_mesh()
            .disable_y_axis()
            .disable_y_mesh()
            .x_max_light_lines(0)
            .x_desc("times as good (1 is a tie)")
            .draw()?;
        for (place, standing) in (0_u32..).zip(standings) {
            let bottom = f64::from(u32::try_from(count)? - place - 1);
            let color = if standing.ratio >= 0.95 {
                &AHEAD
            } else {
                &BEHIND
            };
            let end = standing.ratio.min(WIDEST);
            let corners = [(0.0, bottom + 0.15), (end, bottom + 0.85)];
            chart.draw_series([Rectangle::new(corners, color.filled())])?;
            let label = format!("{} {}", standing.row, standing.figure.unit());
            let (_, y) = chart.backend_coord(&(0.0, bottom + 0.5));
            root.draw(&Text::new(label, (12, y - 7), ("sans-serif", 14)))?;
            let said = format!("{:.2} {}", standing.ratio, standing.best.name());
            let (x, _) = chart.backend_coord(&(end, bottom));
            root.draw(&Text::new(said, (x + 6, y - 7), ("sans-serif", 13)))?;
        }
        let top = f64::from(u32::try_from(count)?);
        chart.draw_series([PathElement::new([(1.0, 0.0), (1.0, top)], BLACK)])?;
        root.present()?;
        Ok(())
    };
    draw().map_err(|error| Fault::new(format!("{}: {error}", path.display())))
}

/// Where bars end; what is longer says so by its number.
const WIDEST: f64 = 3.0;
const AHEAD: RGBColor = RGBColor(31, 119, 100);
const BEHIND: RGBColor = RGBColor(178, 60, 60);
