//! The tables: a row for each operation, with a cell for each caller and then what is asked.

use std::fmt;

/// Who calls, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    Operator,
    /// An agent without a seat in the channel.
    Orchestrator,
    /// A worker, seated: `ann`.
    Person,
    /// A worker, seated: `bot`.
    Agent,
    /// A worker without a seat: `eve`.
    Stranger,
    Auditor,
    /// The token of a turn that `bot` has in the channel.
    Turn,
    /// An operator of another workspace under the same keys.
    Other,
    /// No token.
    Nobody,
}

pub(super) const CALLERS: [(Caller, &str); 9] = [
    (Caller::Operator, "operator"),
    (Caller::Orchestrator, "orchestr"),
    (Caller::Person, "person"),
    (Caller::Agent, "agent"),
    (Caller::Stranger, "stranger"),
    (Caller::Auditor, "auditor"),
    (Caller::Turn, "turn"),
    (Caller::Other, "other"),
    (Caller::Nobody, "nobody"),
];

/// What is to come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// It is done.
    Ok,
    /// The status of a refusal, or of its code where the transport has no statuses.
    Status(u16),
}

impl Cell {
    pub(super) fn of(status: u16) -> Self {
        match status {
            200..=299 => Self::Ok,
            other => Self::Status(other),
        }
    }

    fn read(word: &str) -> Option<Self> {
        match word {
            "ok" => Some(Self::Ok),
            number => number.parse().ok().map(Self::Status),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.pad("ok"),
            Self::Status(status) => f.pad(&status.to_string()),
        }
    }
}

/// An operation, and what each caller is answered.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) cells: [Cell; CALLERS.len()],
    pub(super) asked: String,
    pub(super) line: usize,
}

impl Row {
    pub(super) fn cell(&self, caller: Caller) -> Cell {
        self.cells[CALLERS.iter().position(|(known, _)| *known == caller).unwrap()]
    }

    /// As a line of the table.
    fn shown(&self, cells: &[Cell]) -> String {
        let cells: String = cells.iter().map(|cell| format!("{cell:<9}")).collect();
        format!("{:<28}{cells}{}", self.name, self.asked)
    }
}

/// Reads a table. Its first line that is no remark names the columns.
pub(super) fn read(text: &str) -> Vec<Row> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (_, head) = lines.next().unwrap();
    let columns: Vec<&str> = head.split_whitespace().skip(1).take(CALLERS.len()).collect();
    assert_eq!(columns, CALLERS.map(|(_, name)| name), "the first line names the callers");
    lines.map(|(at, line)| row(at, line)).collect()
}

fn row(line: usize, text: &str) -> Row {
    let mut rest = text;
    let mut word = || {
        let (word, left) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = left.trim_start();
        word
    };
    let name = word().to_owned();
    let cells = CALLERS.map(|(_, caller)| {
        let word = word();
        Cell::read(word).unwrap_or_else(|| panic!("line {line}, {caller}: {word:?} is no cell"))
    });
    Row { name, cells, asked: rest.to_owned(), line }
}

/// What a caller was answered.
pub(super) struct Got {
    pub(super) caller: Caller,
    pub(super) cell: Cell,
    /// What is private stands in it.
    pub(super) shows: bool,
    pub(super) begin: String,
}

/// What was found otherwise than the table says.
#[derive(Default)]
pub(super) struct Findings {
    said: Vec<String>,
    rows: Vec<String>,
}

impl Findings {
    pub(super) fn say(&mut self, what: String) {
        self.said.push(what);
    }

    /// Compares a row with what came of it; and nobody from outside is shown what is private, whatever its role: an
    /// orchestrator has no seat in the channel.
    pub(super) fn compare(&mut self, row: &Row, got: &[Got]) {
        for (Got { caller, cell, shows, begin }, (_, column)) in got.iter().zip(&CALLERS) {
            let expected = row.cell(*caller);
            let named = format!("{} (line {}) as {column}", row.name, row.line);
            if *cell != expected {
                self.say(format!("{named}: expected {expected}, got {cell}: {begin}"));
            }
            let outside = matches!(
                caller,
                Caller::Orchestrator | Caller::Stranger | Caller::Other | Caller::Nobody
            );
            if outside && *shows {
                self.say(format!("{named}: shows what is private: {begin}"));
            }
        }
        let cells: Vec<Cell> = got.iter().map(|got| got.cell).collect();
        if cells != row.cells {
            self.rows.push(row.shown(&cells));
        }
    }

    /// Fails when there is anything.
    pub(super) fn none(self) {
        let (said, rows) = (self.said.join("\n"), self.rows.join("\n"));
        assert!(said.is_empty(), "{said}\n\nThe rows as the host answers them now:\n{rows}");
    }
}
