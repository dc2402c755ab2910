//! Plain text tables with aligned columns.

/// Renders rows under a heading; the first column is left-aligned, the others right-aligned.
pub fn render(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = heading.iter().map(|cell| cell.len()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut rendered = String::new();
        for (column, (cell, width)) in cells.zip(&widths).enumerate() {
            match column {
                0 => rendered.push_str(&format!("{cell:<width$}")),
                _ => rendered.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(rendered.trim_end());
        text.push('\n');
    };
    line(&mut heading.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["long name".to_string(), "7".to_string()]];
        assert_eq!(super::render(&["model", "states"], &rows), "model      states\nlong name       7\n");
    }
}
