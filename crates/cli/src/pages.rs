//! Lists of the host that come in pages.

use chorus_wire::registry::PageQuery;

/// Which part of a list is shown.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Page {
    /// How many at most, up to 200 [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Go on where another page ended: its `next`
    #[arg(long, value_name = "NEXT")]
    pub(crate) after: Option<String>,
}

impl Page {
    /// As the host is asked for it.
    pub(crate) fn query(self) -> PageQuery {
        PageQuery { after: self.after, limit: self.limit }
    }
}

/// A table, and how the next page is had where there is one.
pub(crate) fn with_next(table: String, next: Option<&String>) -> String {
    match next {
        Some(next) => format!("{}\nmore: --after {next}", table.trim_end_matches('\n')),
        None => table,
    }
}
