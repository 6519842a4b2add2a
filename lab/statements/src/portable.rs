//! Whether a statement keeps to what PostgreSQL, Citus, CockroachDB and YugabyteDB can all run.
//!
//! What counts is what differs between them: functions beyond a short list, hidden columns of PostgreSQL's own storage,
//! statements that live in a session (prepared ones that are named are the driver's affair), and anything that runs code of
//! ours in the database. The sentences are spec/operations.md, OPS-167.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, LockType, Query, Statement, Visit, Visitor};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

/// Functions that all of them have, with the same meaning.
const FUNCTIONS: [&str; 15] = [
    "abs",
    "clock_timestamp",
    "coalesce",
    "count",
    "exists",
    "extract",
    "greatest",
    "least",
    "length",
    "lower",
    "max",
    "min",
    "octet_length",
    "sum",
    "unnest",
];

/// Columns that only PostgreSQL's own storage has.
const HIDDEN: [&str; 6] = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// The first words of what reads and changes rows, and of transactions.
const ROWS: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "VALUES"];
const TRANSACTIONS: [&str; 4] = ["BEGIN", "COMMIT", "ROLLBACK", "SET LOCAL"];

/// Steps of the schema, and what is asked before them: they are run once, by whoever owns the database. And what only SQLite
/// is told, in the tests that use it beside.
const EXCUSED: [&str; 4] = ["CREATE ", "ALTER ", "DROP ", "PRAGMA "];
const ABOUT_SCHEMA: &str = "information_schema";

/// Why not all of them can run it, if that is so.
pub fn beyond(sql: &str) -> Option<String> {
    let lines = sql.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("--"));
    let words = lines.unwrap_or_default().to_ascii_uppercase();
    if TRANSACTIONS.iter().chain(&EXCUSED).any(|first| words.starts_with(first))
        || sql.contains(ABOUT_SCHEMA)
    {
        return None;
    }
    if !ROWS.iter().any(|first| words.starts_with(first)) {
        return Some("it is none that reads or changes rows".to_owned());
    }
    let parsed = match Parser::parse_sql(&PostgreSqlDialect {}, sql) {
        Ok(parsed) => parsed,
        Err(why) => return Some(format!("it cannot be read: {why}")),
    };
    match parsed.visit(&mut Check) {
        ControlFlow::Break(why) => Some(why),
        ControlFlow::Continue(()) => None,
    }
}

struct Check;

impl Visitor for Check {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<String> {
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Commit { .. } => ControlFlow::Continue(()),
            other => {
                let kind = other.to_string();
                let kind = kind.split(' ').next().unwrap_or_default().to_owned();
                ControlFlow::Break(format!("{kind} does not run everywhere"))
            }
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        match query.locks.iter().find(|lock| lock.lock_type != LockType::Update) {
            Some(lock) => ControlFlow::Break(format!("{lock} does not lock everywhere")),
            None => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Function(function) => {
                let name = function.name.to_string().to_ascii_lowercase();
                match FUNCTIONS.contains(&&*name) {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(format!("not all have the function {name}")),
                }
            }
            Expr::Identifier(name) if HIDDEN.contains(&&*name.value.to_ascii_lowercase()) => {
                ControlFlow::Break(format!("only PostgreSQL has the column {name}"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-167
    #[test]
    fn what_reads_and_changes_rows_runs_everywhere() {
        for sql in [
            "SELECT epoch, batch FROM workspace_owner WHERE workspace = $1 FOR UPDATE",
            "INSERT INTO a (workspace, b) SELECT $1, b FROM unnest($2::bigint[]) AS t(b) ON CONFLICT (workspace, b) DO NOTHING",
            "SELECT coalesce(max(seq), 0) FROM event WHERE workspace = $1",
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            "SET LOCAL synchronous_commit = on",
        ] {
            assert_eq!(beyond(sql), None, "{sql}");
        }
    }

    // covers: OPS-167
    #[test]
    fn what_only_postgresql_has_is_found() {
        for sql in [
            "SELECT pg_advisory_xact_lock(1)",
            "SELECT nextval('s')",
            "SELECT xmin FROM event WHERE workspace = $1",
            "SELECT 1 FROM event WHERE workspace = $1 FOR SHARE",
            "LISTEN news",
            "SET search_path = x",
            "DO $$ BEGIN END $$",
            "TRUNCATE event",
        ] {
            assert!(beyond(sql).is_some(), "{sql}");
        }
    }
}
