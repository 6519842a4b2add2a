//! What programs print into a terminal that `chorus run` keeps.

use chorus_harness::terminal::{Size, parsers};

/// However output is cut into pieces, the same screen comes out of it, of so many rows; and what redraws
/// it shows it again. The first three bytes are the size of the screen and that of the pieces.
pub fn screen(data: &[u8]) {
    let [rows, columns, piece, output @ ..] = data else { return };
    let size = Size { rows: u16::from(rows % 60) + 1, columns: u16::from(columns % 160) + 1 };
    let pieces: Vec<&[u8]> = output.chunks(usize::from(*piece).max(1)).collect();
    let (rows, redraw) = parsers::screen(size, &pieces);
    assert_eq!(parsers::screen(size, &[output]).0, rows);
    assert_eq!(rows.len(), usize::from(size.rows));
    assert_eq!(parsers::screen(size, &[&redraw]).0, rows);
}
