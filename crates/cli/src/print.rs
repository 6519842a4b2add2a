//! How texts and tables look.
//!
//! Invariant: nothing that somebody else wrote reaches the terminal raw; control characters, marks of
//! direction and letters of no width are shown, not obeyed, in JSON too.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::text::is_unseen;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{short_ids, terminal};

/// Columns of a table below which nothing is cut.
const NARROWEST: usize = 12;
/// Characters of a receipt that a terminal shows.
const RECEIPT: usize = 60;

/// A text in which all is escaped that is no line of ours; shades are let through where there are any.
pub(crate) fn harmless(text: &str, shaded: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_shade = || {
            let code = text[at..].strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m'));
            code.is_some_and(|(code, _)| code.bytes().all(|b| b.is_ascii_digit()))
        };
        match c {
            '\n' | '\t' => shown.push(c),
            '\u{1b}' if shaded && is_shade() => shown.push(c),
            _ if c.is_control() || is_unseen(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// JSON in which the same is escaped: what it means stays, since what serde leaves raw of these stands in strings only.
pub(crate) fn escaped(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_unseen(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Somebody's text on one line: line ends shown as ` / `, other control characters escaped, and so are letters of no
/// width and the marks that reorder what stands around them.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, part) in text.trim_end().lines().enumerate() {
        if at > 0 {
            shown.push_str(" / ");
        }
        for c in part.chars() {
            match c {
                '\t' => shown.push(' '),
                _ if c.is_control() || is_unseen(c) => shown.extend(c.escape_unicode()),
                _ => shown.push(c),
            }
        }
    }
    shown
}

/// As [`line`], cut after about `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let whole = line(text);
    match whole.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// A signed receipt, whole for programs; a terminal shows how it begins.
pub(crate) fn receipt(jws: &str) -> String {
    match terminal::columns() {
        Some(_) => short(jws, RECEIPT),
        None => line(jws),
    }
}

/// Columns of equal width; the last is not padded. On a terminal ids are short, and what people wrote is cut until a
/// row fits a line. Without rows it is `none`, a sentence.
pub(crate) fn table(none: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    table_within(terminal::columns().unwrap_or(usize::MAX), none, head, rows)
}

fn table_within(columns: usize, none: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return none.to_owned();
    }
    let short = |row: &Vec<String>| row.iter().map(|cell| short_ids::shown(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(short).collect();
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    fit(columns, &mut widths, &rows);
    let mut text = String::new();
    let head = head.iter().map(|cell| (*cell).to_owned()).collect();
    for row in std::iter::once(&head).chain(&rows) {
        let mut shown = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = cut(cell, *width);
            let pad = width.saturating_sub(cell.width());
            shown.push_str(&cell);
            shown.extend(std::iter::repeat_n(' ', pad + 2));
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// Makes columns narrower until a row fits, the widest first. A column of single words, such as names and ids, stays whole,
/// since people type them.
fn fit(columns: usize, widths: &mut [usize], rows: &[Vec<String>]) {
    let is_prose = |column: usize| {
        rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.contains(' ')))
    };
    let prose: Vec<usize> = (0..widths.len()).filter(|column| is_prose(*column)).collect();
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > columns {
        let Some(widest) = prose.iter().copied().max_by_key(|column| widths[*column]) else {
            return;
        };
        if widths[widest] <= NARROWEST {
            return;
        }
        widths[widest] -= 1;
    }
}

/// A text of at most so many columns.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    for c in text.chars() {
        if shown.width() + c.width().unwrap_or(0) + 1 > columns {
            break;
        }
        shown.push(c);
    }
    shown + "…"
}

/// The time of day where the reader is.
pub(crate) fn clock(time: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string(),
        Err(_) => chorus_wire::time::format(time),
    }
}

/// Day and time where the reader is.
pub(crate) fn date(time: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(time) => {
            time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => chorus_wire::time::format(time),
    }
}

/// A span as people say it: `240 ms`, `1.2 s`, `5 min`.
pub(crate) fn span(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-470
    #[test]
    fn json_shows_what_a_terminal_would_obey_and_means_the_same() {
        let text = "a\u{1b}[2J\u{9b}b\u{7f}\u{202e}c\u{200b}d\u{e0041}\u{feff}\n";
        let json = escaped(&serde_json::to_string(text).expect("JSON"));
        assert!(json.chars().all(|c| !c.is_control() && !is_unseen(c)), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
    }

    // covers: OPS-470
    #[test]
    fn a_text_has_lines_and_our_own_shades_and_nothing_else_that_a_terminal_obeys() {
        let text = "\u{1b}[1mann\u{1b}[0m\ta\nb\r\u{1b}[2J\u{202e}";
        assert_eq!(harmless(text, true), "\u{1b}[1mann\u{1b}[0m\ta\nb\\u{d}\\u{1b}[2J\\u{202e}");
        assert!(harmless(text, false).starts_with("\\u{1b}[1m"));
    }

    // covers: OPS-470
    #[test]
    fn what_others_wrote_cannot_move_the_cursor() {
        assert_eq!(line("a\u{1b}[2Jb\r\nc\td\u{202e}e\n"), "a\\u{1b}[2Jb / c d\\u{202e}e");
        assert_eq!(line("in\u{200b}ci\u{feff}dents\u{9b}"), "in\\u{200b}ci\\u{feff}dents\\u{9b}");
        assert_eq!(short("abcdef", 3), "abc…");
        assert_eq!(short("abc", 3), "abc");
    }

    // covers: OPS-489
    #[test]
    fn what_people_wrote_is_cut_until_a_row_fits_a_line() {
        let id = format!("apr_{}", "0".repeat(32));
        let row = vec![id.clone(), "a long story ".repeat(9), "名前は とても 長い".to_owned()];
        let shown = table_within(80, "none", &["ID", "WHAT", "NAME"], std::slice::from_ref(&row));
        assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
        assert!(shown.contains(&id) && shown.contains("a long st"), "{shown}");
        let whole = table_within(usize::MAX, "none", &["ID", "WHAT", "NAME"], &[row]);
        assert!(!whole.contains('…'), "{whole}");
    }

    #[test]
    fn a_table_is_as_wide_as_its_cells() {
        let rows =
            [vec!["a".to_owned(), "long cell".to_owned()], vec!["bcd".to_owned(), String::new()]];
        assert_eq!(table("none", &["x", "y"], &[]), "none");
        assert_eq!(table("none", &["x", "y"], &rows), "x    y\na    long cell\nbcd\n");
    }
}
