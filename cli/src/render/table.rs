//! Tables whose columns are as wide as what stands in them.

/// Adds lines of as many cells each, the first of them the title; columns lie two blanks apart.
pub(crate) fn push<const COLUMNS: usize>(text: &mut String, lines: &[[String; COLUMNS]]) {
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    for line in lines {
        let padded = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let padded = padded.collect::<Vec<_>>().join("  ");
        text.push_str(padded.trim_end());
        text.push('\n');
    }
}
