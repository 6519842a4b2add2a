//! Whether a statement keeps to one workspace.
//!
//! The rule: each table that a `SELECT`, `UPDATE` or `DELETE` reaches has its `workspace` equal to a parameter, or to
//! that of another table in sight of which the same is true; and what is inserted says its workspace first. A
//! condition counts when all rows must meet it: at the top of a `WHERE` or `ON`, joined by `AND`.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, ConflictTarget, Delete, Expr, FromTable, Insert,
    JoinConstraint, JoinOperator, ObjectName, OnConflictAction, OnInsert, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableObject, TableWithJoins, Update, Value, Visit,
    Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

const KEY: &str = "workspace";

/// What has rows of no workspace: the engines' own tables, the steps of the schema, the hosts of a database, and what a
/// copy says of itself.
fn is_nobodys(table: &str) -> bool {
    ["pg_", "sqlite_", "pragma_"].iter().any(|prefix| table.starts_with(prefix))
        || [
            "migration",
            "backup",
            "live_host",
            "workspace_owner",
            "workspace_name",
            "columns",
            "tables",
        ]
        .contains(&table)
}

/// What is about all workspaces of a database, and why that is right.
const EXCUSED: [(&str, &str); 4] = [
    ("FROM workspace ORDER BY workspace LIMIT 1", "a host asks which workspace there is"),
    ("NOT INDEXED", "a backup is a copy of the whole file, and so is its checksum"),
    ("UPDATE head SET unattended = (", "the second version of the schema counts in all rows"),
    ("UPDATE thread SET unattended = (", "so it does in threads"),
];

/// Why it may reach rows of more than one workspace, if it may.
///
/// What cannot be parsed is not excused, but for words that reach no rows at all.
pub fn crosses(sql: &str) -> Option<String> {
    let first = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    if !["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "VALUES"]
        .contains(&first.as_str())
    {
        return None;
    }
    if EXCUSED.iter().any(|(words, _)| sql.contains(words)) {
        return None;
    }
    let parsed = match Parser::parse_sql(&PostgreSqlDialect {}, sql) {
        Ok(parsed) => parsed,
        Err(why) => return Some(format!("it cannot be read: {why}")),
    };
    let mut check = Check { scopes: Vec::new() };
    parsed.iter().find_map(|statement| check.statement(statement).err())
}

type Found = Result<(), String>;

struct Check {
    /// For each query around: the tables in it whose workspace is known.
    scopes: Vec<BTreeSet<String>>,
}

impl Check {
    fn statement(&mut self, statement: &Statement) -> Found {
        let scope = match statement {
            Statement::Query(_) => BTreeSet::new(),
            // Of the row in its way it is known: it has the same key.
            Statement::Insert(insert) => [inserts(insert)?, "excluded".to_owned()].into(),
            Statement::Update(Update { table, assignments, from, selection, .. }) => {
                if from.is_some() {
                    return Err("an UPDATE with FROM is not looked at".to_owned());
                }
                for assignment in assignments {
                    let AssignmentTarget::ColumnName(column) = &assignment.target else {
                        return Err("it sets several columns at once".to_owned());
                    };
                    if name_of(column) == KEY {
                        return Err("it moves rows to another workspace".to_owned());
                    }
                }
                self.known(&[table], selection.as_ref())?
            }
            Statement::Delete(Delete { from, using, selection, tables, .. }) => {
                if !tables.is_empty() {
                    return Err("a DELETE from several tables is not looked at".to_owned());
                }
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = from;
                let all: Vec<_> = from.iter().chain(using.iter().flatten()).collect();
                self.known(&all, selection.as_ref())?
            }
            other => return Err(format!("it is of a kind that is not looked at: {other}")),
        };
        self.scopes.push(scope);
        let within = match statement.visit(self) {
            ControlFlow::Break(why) => Err(why),
            ControlFlow::Continue(()) => Ok(()),
        };
        self.scopes.pop();
        within
    }

    fn body(&self, body: &SetExpr, known: &mut BTreeSet<String>) -> Found {
        match body {
            SetExpr::Select(select) => {
                let Select { from, selection, .. } = &**select;
                known.extend(self.known(&from.iter().collect::<Vec<_>>(), selection.as_ref())?);
                Ok(())
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, known)?;
                self.body(right, known)
            }
            // A query in brackets is visited by itself.
            SetExpr::Query(_) | SetExpr::Values(_) => Ok(()),
            other => Err(format!("a query of a kind that is not looked at: {other}")),
        }
    }

    /// The tables in sight, all of which have their workspace given.
    fn known(
        &self,
        from: &[&TableWithJoins],
        selection: Option<&Expr>,
    ) -> Result<BTreeSet<String>, String> {
        let (mut wanted, mut known) = (BTreeSet::new(), BTreeSet::new());
        let mut conditions: Vec<&Expr> = selection.into_iter().collect();
        for tables in from {
            sort(&tables.relation, &mut wanted, &mut known)?;
            for join in &tables.joins {
                sort(&join.relation, &mut wanted, &mut known)?;
                conditions.extend(on(&join.join_operator)?);
            }
        }
        let alone = wanted.len() + known.len() == 1;
        let only = wanted.first().or(known.first()).filter(|_| alone).cloned();
        let mut equal = Vec::new();
        for condition in conditions {
            equalities(condition, only.as_deref(), &mut equal);
        }
        // Until nothing more follows.
        while let Some(at) = equal.iter().position(|(this, other)| {
            wanted.contains(this)
                && match other {
                    Side::Given => true,
                    Side::Of(table) => known.contains(table) || self.is_known(table),
                }
        }) {
            let (this, _) = equal.swap_remove(at);
            wanted.remove(&this);
            known.insert(this);
        }
        match wanted.first() {
            None => Ok(known),
            Some(table) => Err(format!("of {table} it is not said which workspace's")),
        }
    }

    fn is_known(&self, table: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(table))
    }
}

impl Visitor for Check {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        let mut known = BTreeSet::new();
        if query.with.is_some() {
            return ControlFlow::Break("a query with WITH is not looked at".to_owned());
        }
        if let Err(why) = self.body(&query.body, &mut known) {
            return ControlFlow::Break(why);
        }
        self.scopes.push(known);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<String> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }
}

/// What is inserted says its workspace first, and meets rows of no other. Gives the table.
fn inserts(insert: &Insert) -> Result<String, String> {
    let TableObject::TableName(table) = &insert.table else {
        return Err("it inserts into no table".to_owned());
    };
    let table = name_of(table);
    if is_nobodys(&table) {
        return Ok(table);
    }
    if insert.columns.first().is_none_or(|column| name_of(column) != KEY) {
        return Err("its first column is not the workspace".to_owned());
    }
    match &insert.on {
        None => {}
        Some(OnInsert::OnConflict(on)) => {
            let Some(ConflictTarget::Columns(columns)) = &on.conflict_target else {
                return Err("a conflict of no columns".to_owned());
            };
            if columns.first().is_none_or(|column| column.value != KEY) {
                return Err("a conflict that does not begin with the workspace".to_owned());
            }
            if let OnConflictAction::DoUpdate(update) = &on.action
                && update.assignments.iter().any(|set| set.target.to_string() == KEY)
            {
                return Err("it moves a row to another workspace".to_owned());
            }
        }
        Some(other) => return Err(format!("it ends with {other}")),
    }
    let Some(source) = &insert.source else { return Err("it inserts nothing".to_owned()) };
    let says = match &*source.body {
        SetExpr::Values(values) => values.rows.iter().all(|row| row.first().is_some_and(is_given)),
        SetExpr::Select(select) => match select.projection.first() {
            Some(SelectItem::UnnamedExpr(first)) => is_given(first),
            // All columns of arrays that are given.
            Some(SelectItem::Wildcard(_)) => {
                select.from.iter().all(|from| is_unnest(&from.relation) && from.joins.is_empty())
            }
            _ => false,
        },
        _ => false,
    };
    if says { Ok(table) } else { Err("what it inserts does not begin with a workspace".to_owned()) }
}

/// What the workspace of a table is equal to.
enum Side {
    Given,
    Of(String),
}

/// Puts a table among those that must say their workspace, or those that need not.
fn sort(
    factor: &TableFactor,
    wanted: &mut BTreeSet<String>,
    known: &mut BTreeSet<String>,
) -> Found {
    match factor {
        TableFactor::Table { name, alias, args, .. } => {
            let table = name_of(name);
            let called =
                alias.as_ref().map_or_else(|| table.clone(), |alias| alias.name.value.clone());
            // A function gives what it is given.
            let free = args.is_some() || is_nobodys(&table);
            if if free { known.insert(called) } else { wanted.insert(called) } {
                Ok(())
            } else {
                Err(format!("{table} stands there twice under one name"))
            }
        }
        // Looked at by itself; what comes out of it is of one workspace.
        TableFactor::Derived { alias: Some(alias), .. } => {
            known.insert(alias.name.value.clone());
            Ok(())
        }
        TableFactor::UNNEST { alias, .. } => {
            known.extend(alias.as_ref().map(|alias| alias.name.value.clone()));
            Ok(())
        }
        other => Err(format!("a table of a kind that is not looked at: {other}")),
    }
}

fn is_unnest(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::UNNEST { .. } => true,
        TableFactor::Table { name, args: Some(_), .. } => name_of(name) == "unnest",
        _ => false,
    }
}

fn on(join: &JoinOperator) -> Result<Option<&Expr>, String> {
    match join {
        JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::Left(on)
        | JoinOperator::LeftOuter(on) => match on {
            JoinConstraint::On(condition) => Ok(Some(condition)),
            other => Err(format!("a join by {other:?} is not looked at")),
        },
        JoinOperator::CrossJoin(JoinConstraint::None) => Ok(None),
        other => Err(format!("a join of a kind that is not looked at: {other:?}")),
    }
}

/// The equalities of workspaces that all rows meet; `only` is whose a bare column is.
fn equalities(condition: &Expr, only: Option<&str>, found: &mut Vec<(String, Side)>) {
    match condition {
        Expr::Nested(inner) => equalities(inner, only, found),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            equalities(left, only, found);
            equalities(right, only, found);
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            for (one, other) in [(left, right), (right, left)] {
                let Some(table) = whose(one, only) else { continue };
                if is_given(other) {
                    found.push((table, Side::Given));
                } else if let Some(other) = whose(other, only) {
                    found.push((table, Side::Of(other)));
                }
            }
        }
        _ => {}
    }
}

/// The table whose workspace this column is.
fn whose(column: &Expr, only: Option<&str>) -> Option<String> {
    match column {
        Expr::Identifier(name) if name.value == KEY => only.map(str::to_owned),
        Expr::CompoundIdentifier(path) => match path.as_slice() {
            [table, column] if column.value == KEY => Some(table.value.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A parameter, or a number.
fn is_given(value: &Expr) -> bool {
    match value {
        Expr::Value(value) => matches!(value.value, Value::Placeholder(_) | Value::Number(..)),
        _ => false,
    }
}

fn name_of(name: &ObjectName) -> String {
    name.0.last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::crosses;

    #[test]
    fn a_statement_that_says_its_workspace_keeps_to_it() {
        for sql in [
            "BEGIN IMMEDIATE",
            "PRAGMA quick_check",
            "SELECT a FROM event WHERE workspace = $1",
            "SELECT a FROM event e WHERE (e.seq > $2 AND $1 = e.workspace)",
            "SELECT a FROM head h LEFT JOIN base b ON b.workspace = h.workspace AND b.x = h.x WHERE h.workspace = $1",
            "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM message WHERE workspace = $1)",
            "SELECT a FROM head h WHERE h.workspace = $1 AND EXISTS
                (SELECT 1 FROM event e WHERE e.workspace = h.workspace)",
            "SELECT a FROM event WHERE workspace = $1 UNION SELECT b FROM head WHERE workspace = $1 ORDER BY a",
            "SELECT a FROM event WHERE workspace = $1 AND a IN (SELECT a FROM head WHERE workspace = $1)",
            "INSERT INTO mark (workspace, a) VALUES ($1, $2)",
            "INSERT INTO mark (workspace, a) VALUES ($1, $2) ON CONFLICT (workspace, a) DO NOTHING",
            "INSERT INTO mark (workspace, a) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
            "INSERT INTO mark (workspace, a) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM gone WHERE workspace = $1)",
            "UPDATE event SET body = $1 WHERE workspace = $2 AND seq = $3",
            "DELETE FROM gone USING unnest($1::bigint[]) AS keys (workspace) WHERE gone.workspace = keys.workspace",
            "DELETE FROM gone WHERE workspace = $1",
            "SELECT number FROM migration ORDER BY number",
            "SELECT 1 FROM pg_stat_activity WHERE pid = $1",
        ] {
            assert_eq!(crosses(sql), None, "{sql}");
        }
    }

    #[test]
    fn a_statement_that_does_not_is_found() {
        for sql in [
            "SELECT a FROM event",
            "SELECT a FROM event WHERE seq = $1",
            "SELECT a FROM event WHERE workspace > $1",
            "SELECT a FROM event WHERE workspace = $1 OR seq = $2",
            "SELECT a FROM event WHERE NOT (workspace = $1)",
            "SELECT a FROM event WHERE workspace = conversation",
            "SELECT a FROM event e, head h WHERE e.workspace = $1",
            "SELECT a FROM event e, head h WHERE e.workspace = h.workspace",
            "SELECT a FROM event e, head h WHERE workspace = $1",
            "SELECT a FROM head h LEFT JOIN base b ON b.x = h.x WHERE h.workspace = $1",
            "SELECT a FROM event WHERE workspace = $1 UNION SELECT b FROM head",
            "SELECT a FROM event WHERE workspace = $1 AND a IN (SELECT a FROM head)",
            "SELECT (SELECT max(seq) FROM head) FROM event WHERE workspace = $1",
            "SELECT a FROM (SELECT a FROM event) x",
            "SELECT a FROM event WHERE workspace = $1 AND EXISTS (SELECT 1 FROM head WHERE head.a = event.a)",
            "WITH x AS (SELECT a FROM event) SELECT a FROM x",
            "INSERT INTO mark VALUES ($1, $2)",
            "INSERT INTO mark (a, workspace) VALUES ($1, $2)",
            "INSERT INTO mark (workspace, a) VALUES (a, $2)",
            "INSERT INTO mark (workspace, a) SELECT workspace, a FROM gone WHERE workspace = $1",
            "INSERT INTO mark (workspace, a) SELECT * FROM gone",
            "INSERT INTO mark (workspace, a) SELECT $1, (SELECT max(a) FROM gone)",
            "INSERT INTO mark (workspace, a) VALUES ($1, $2) ON CONFLICT (a) DO NOTHING",
            "INSERT INTO mark (workspace, a) VALUES ($1, $2) ON CONFLICT (workspace, a) DO UPDATE SET workspace = 1",
            "UPDATE event SET body = $1",
            "UPDATE event SET workspace = $1 WHERE workspace = $2",
            "DELETE FROM gone",
            "DELETE FROM gone USING unnest($1::bigint[]) AS keys (a) WHERE gone.a = keys.a",
            "SELECT FROM WHERE",
        ] {
            assert!(crosses(sql).is_some(), "{sql}");
        }
    }
}
