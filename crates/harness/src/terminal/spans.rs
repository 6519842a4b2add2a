//! The screen as spans of text of one look, for those who look at it through the host.

use chorus_wire::attention::screen::{Color, Place, Screen, Span};

use super::screen::Model;

/// The largest screen that is shown: the rest of a larger one is left out.
const ROWS: u16 = 200;
const COLUMNS: u16 = 400;

impl Model {
    pub(super) fn shown(&mut self) -> Screen {
        let screen = self.screen();
        let (rows, columns) = screen.size();
        let (rows, columns) = (rows.get().min(ROWS), columns.get().min(COLUMNS));
        let mut lines: Vec<_> = (0..rows).map(|row| spans(screen, row, columns)).collect();
        let filled = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines.truncate(filled);
        let (row, column) = screen.cursor_position();
        let is_shown = !screen.hide_cursor() && row < rows && column < columns;
        Screen {
            columns,
            rows,
            lines: Some(lines),
            cursor: is_shown.then_some(Place { row, column }),
            private: false,
        }
    }
}

/// A row's text, cut where its look changes; nothing that cannot be seen at the end.
fn spans(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Span> {
    let mut line: Vec<Span> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation())
        else {
            continue;
        };
        let look = Span {
            text: String::new(),
            color: color(cell.fgcolor()),
            background: color(cell.bgcolor()),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match line.last_mut() {
            Some(last) if looks_as(last, &look) => last.text.push_str(text),
            _ => line.push(Span { text: text.to_owned(), ..look }),
        }
    }
    while let Some(last) = line.last_mut() {
        let is_seen = last.background.is_some() || last.inverse || last.underline;
        let end = if is_seen { last.text.len() } else { last.text.trim_end().len() };
        last.text.truncate(end);
        if end > 0 {
            break;
        }
        line.pop();
    }
    line
}

fn looks_as(one: &Span, other: &Span) -> bool {
    let colors = |span: &Span| (span.color, span.background);
    let flags = |s: &Span| (s.bold, s.dim, s.italic, s.underline, s.inverse);
    colors(one) == colors(other) && flags(one) == flags(other)
}

fn color(color: vt100::Color) -> Option<Color> {
    match color {
        vt100::Color::Default => None,
        vt100::Color::Idx(number) => Some(Color::Indexed(number)),
        vt100::Color::Rgb(red, green, blue) => Some(Color::Rgb([red, green, blue])),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Instant;

    use super::super::Size;
    use super::*;

    fn shown(output: &str) -> Screen {
        let mut model = Model::new(Size { rows: 4, columns: 20 }, Instant::now());
        model.print(output.as_bytes());
        model.shown()
    }

    #[test]
    fn text_is_cut_where_its_look_changes_and_the_end_is_left_out() {
        let screen = shown("plain \x1b[1;31mred\x1b[0m rest\r\n\x1b[48;2;1;2;3m \x1b[0m\r\n");
        let lines = screen.lines.unwrap();
        assert_eq!(lines.len(), 2, "empty lines at the end are left out");
        let texts: Vec<_> = lines[0].iter().map(|span| span.text.as_str()).collect();
        assert_eq!(texts, ["plain ", "red", " rest"]);
        assert!(lines[0][1].bold && lines[0][1].color == Some(Color::Indexed(1)));
        assert_eq!(lines[1][0].background, Some(Color::Rgb([1, 2, 3])));
        assert_eq!(screen.cursor, Some(Place { row: 2, column: 0 }));
        assert_eq!((screen.rows, screen.columns), (4, 20));
    }

    #[test]
    fn wide_characters_are_one_and_a_hidden_cursor_is_nowhere() {
        let screen = shown("日本\x1b[?25l");
        assert_eq!(screen.lines.unwrap()[0][0].text, "日本");
        assert_eq!(screen.cursor, None);
    }
}
