//! Checks that the schema and the statements agree.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use chorus_core::model::ids::Timestamp;

use super::{Migration, Mismatch, POSTGRES, SQLITE, Schema, Since, check, for_postgres, migrate};
use crate::db::{Db, Row, Table};
use crate::family::Family;
use crate::postgres::Address;
use crate::sqlite::Sqlite;
use crate::{families, membership};

static MIGRATION: Table = Table::new("migration", 1, &["number", "name", "checksum", "applied_at"]);

fn fresh() -> (tempfile::TempDir, Box<dyn Db>) {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::writer(&folder.path().join("chorus.db"), None, crate::db::Sync::Full).unwrap();
    (folder, Box::new(db))
}

fn fresh_on_postgres() -> Box<dyn Db> {
    let address = Arc::new(Address::read(&chorus_cluster::schema().unwrap()).unwrap());
    Box::new(membership::writer(&address, crate::db::Sync::Full).unwrap())
}

/// Runs the check with an empty database of each engine, and its schema.
fn on_each(check: impl Fn(&dyn Db, Schema)) {
    let (_folder, db) = fresh();
    check(&*db, SQLITE);
    check(&*fresh_on_postgres(), POSTGRES);
}

#[test]
fn every_table_has_the_columns_and_the_key_its_statements_name() {
    let (_folder, db) = fresh();
    migrate(&*db, &SQLITE, Timestamp(1)).unwrap();
    check_tables(&*db, "pragma_table_info(", "cid", "sqlite_schema WHERE type = 'table'");
}

/// With no statistics SQLite takes a workspace for ten rows. What is asked for at each job, transfer
/// or registration must be found by its own index all the same, and not by a walk through them all.
#[test]
fn the_market_is_searched_by_its_indexes() {
    let (_folder, db) = fresh();
    migrate(&*db, &SQLITE, Timestamp(1)).unwrap();
    let found_by = [
        ("DELETE FROM skill WHERE workspace = 1 AND agent = x'00'", "skill_agent"),
        ("DELETE FROM skill_word WHERE workspace = 1 AND agent = x'00'", "skill_word_agent"),
        (
            "SELECT agent FROM listing WHERE workspace = 1 AND member = 1 ORDER BY agent",
            "listing_member",
        ),
        (
            "SELECT packed FROM listing WHERE workspace = 1 AND owner = 'a' AND agent > x'00' \
             ORDER BY agent LIMIT 5",
            "listing_owner",
        ),
        (
            "SELECT name FROM skill WHERE workspace = 1 \
             ORDER BY rank, cost, recency, agent, name LIMIT 5",
            "skill_best",
        ),
        (
            "SELECT hash FROM ledger_entry WHERE workspace = 1 AND transfer = x'00'",
            "ledger_entry_transfer",
        ),
        (
            "SELECT hash FROM ledger_entry WHERE workspace = 1 AND job = x'00' ORDER BY number",
            "ledger_entry_job",
        ),
        (
            "SELECT hash FROM ledger_entry WHERE workspace = 1 AND payer = 'a' AND number < 9 \
             ORDER BY number DESC LIMIT 5",
            "ledger_entry_payer",
        ),
    ];
    for (statement, index) in found_by {
        let plan = format!("EXPLAIN QUERY PLAN {statement}");
        let steps = db.all(&plan, &[], |row| Ok(row.text(3)?.to_owned())).unwrap();
        let by = format!(" {index} (");
        assert!(steps[0].contains(&by), "{statement}: {steps:?}");
    }
}

#[test]
fn every_table_is_the_same_on_postgresql() {
    let db = &*fresh_on_postgres();
    migrate(db, &POSTGRES, Timestamp(1)).unwrap();
    db.execute(KEYS, &[]).unwrap();
    // Those of the hosts are not the schema's.
    let tables = "pg_tables WHERE schemaname = current_schema()
        AND tablename NOT IN ('live_host', 'workspace_owner', 'workspace_name')";
    check_tables(db, "keys(", "place", tables);
}

/// PostgreSQL's equivalent of `pragma_table_info`: a column's name, its place in the key or 0, and
/// its place.
const KEYS: &str = "CREATE FUNCTION keys(of text) RETURNS TABLE (name text, pk bigint, place bigint)
    LANGUAGE sql AS $$
        SELECT attname::text, COALESCE(array_position(indkey::int[], attnum::int) + 1, 0)::bigint, attnum::bigint
        FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
        WHERE attrelid = of::regclass AND attnum > 0
    $$";

fn check_tables(db: &dyn Db, info: &str, place: &str, tables: &str) {
    for table in families::tables().chain([&MIGRATION]) {
        let sql = format!("SELECT name, pk FROM {info}'{}') ORDER BY {place}", table.name);
        let columns =
            db.all(&sql, &[], |row| Ok((row.text(0)?.to_owned(), row.int::<usize>(1)?))).unwrap();
        let names: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, table.columns, "{}", table.name);
        let key: Vec<_> = columns.iter().take(table.key).map(|(_, pk)| *pk).collect();
        assert_eq!(key, (1..=table.key).collect::<Vec<_>>(), "{}", table.name);
        assert!(columns[table.key..].iter().all(|(_, pk)| *pk == 0), "{}", table.name);
    }
    let sql = format!("SELECT count(*) FROM {tables}");
    let count: Option<usize> = db.one(&sql, &[], |row| row.int(0)).unwrap();
    // Besides the table of migrations.
    assert_eq!(count, Some(families::tables().count() + 1));
}

#[test]
fn each_family_names_the_first_version_with_all_its_columns() {
    let reads = |schema: Schema, db: &dyn Db, family: &Family, version: u32| {
        migrate(db, &schema.up_to(version as usize), Timestamp(1)).unwrap();
        family.tables.iter().all(|table| {
            let sql = format!("{} WHERE workspace = $1", table.select());
            db.all(&sql, &[1_i64.into()], |_| Ok(())).is_ok()
        })
    };
    for family in families::ALL {
        let (_folder, db) = fresh();
        let (since, name) = (family.since.sqlite, family.tables[0].name);
        assert!(!reads(SQLITE, &*db, family, since - 1), "{name} before version {since}");
        assert!(reads(SQLITE, &*db, family, since), "{name} in version {since}");
        let since = family.since.postgres;
        assert!(!reads(POSTGRES, &*fresh_on_postgres(), family, since - 1), "{name} on PostgreSQL");
        assert!(reads(POSTGRES, &*fresh_on_postgres(), family, since), "{name} on PostgreSQL");
    }
}

/// Each index with its first column, as the engine has it.
const INDEXES: &str = "SELECT t.name, i.name, COALESCE(c.name, 'no column')
    FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
    WHERE t.type = 'table' AND c.seqno = 0
    UNION ALL SELECT t.name, 'its key', c.name FROM sqlite_schema t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND c.pk = 1";
const INDEXES_OF_POSTGRES: &str =
    "SELECT t.relname::text, i.relname::text, COALESCE(a.attname, 'no column')::text
    FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] AND a.attnum > 0
    WHERE t.relnamespace = current_schema()::regnamespace";

#[test]
fn every_index_starts_with_the_workspace() {
    let (_folder, db) = fresh();
    migrate(&*db, &SQLITE, Timestamp(1)).unwrap();
    check_indexes(&*db, INDEXES);
}

#[test]
fn every_index_on_postgresql_starts_with_the_workspace() {
    let db = &*fresh_on_postgres();
    migrate(db, &POSTGRES, Timestamp(1)).unwrap();
    check_indexes(db, INDEXES_OF_POSTGRES);
}

fn check_indexes(db: &dyn Db, sql: &str) {
    let read = |row: &dyn Row| Ok([0, 1, 2].map(|n| row.text(n).unwrap().to_owned()));
    let found = db.all(sql, &[], read).unwrap();
    // Those are about all of them.
    let of_none = ["migration", "live_host", "workspace_owner", "workspace_name"];
    for [table, index, first] in found.iter().filter(|[table, ..]| !of_none.contains(&&**table)) {
        assert_eq!(first, "workspace", "{index} of {table}");
    }
    for table in families::tables() {
        assert!(found.iter().any(|[of, ..]| of == table.name), "{} has no key", table.name);
    }
}

#[test]
fn migrations_are_applied_once_and_in_order() {
    const ONE: Migration =
        Migration { number: 1, name: "one", sql: "CREATE TABLE a (x BIGINT);\n" };
    const TWO: Migration = Migration { number: 2, name: "two", sql: "INSERT INTO a VALUES (7);\n" };
    const CHANGED: Migration = Migration { sql: "CREATE TABLE b (x BIGINT);\n", ..ONE };
    on_each(|db, schema| {
        let of = |own| Schema { own, shared: &[], ..schema };
        migrate(db, &of(&[ONE]), Timestamp(1)).unwrap();
        migrate(db, &of(&[ONE, TWO]), Timestamp(2)).unwrap();
        migrate(db, &of(&[ONE, TWO]), Timestamp(3)).unwrap();
        assert_eq!(db.all("SELECT x FROM a", &[], |row| row.int::<u8>(0)).unwrap(), [7]);
        let changed = migrate(db, &of(&[CHANGED, TWO]), Timestamp(4));
        assert_eq!(changed, Err(Mismatch::Changed { number: 1 }));
        let newer = migrate(db, &of(&[ONE]), Timestamp(4));
        assert_eq!(newer, Err(Mismatch::Newer { found: 2, known: 1 }));
    });
}

#[test]
fn a_migration_that_fails_leaves_nothing() {
    const BROKEN: Migration = Migration {
        number: 1,
        name: "broken",
        sql: "CREATE TABLE a (x BIGINT);\nCREATE TABLE a (x BIGINT);\n",
    };
    on_each(|db, schema| {
        let broken = migrate(db, &Schema { own: &[BROKEN], shared: &[], ..schema }, Timestamp(1));
        assert!(matches!(broken, Err(Mismatch::Database(_))));
        let noted = db.all("SELECT number FROM migration", &[], |_| Ok(())).unwrap();
        assert!(noted.is_empty());
        assert!(db.execute("CREATE TABLE a (x BIGINT)", &[]).is_ok(), "it is not there");
    });
}

#[test]
fn a_shared_migration_follows_those_of_each_engine() {
    const SHARED: Migration = Migration {
        number: 1,
        name: "shared",
        sql: "-- An INTEGER and a BLOB.
CREATE TABLE a (
    workspace INTEGER NOT NULL,
    uid BLOB NOT NULL,
    said TEXT,
    PRIMARY KEY (workspace, uid)
) WITHOUT ROWID;
ALTER TABLE a ADD COLUMN owed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX a_owed ON a (workspace, owed) WHERE owed = 1;
",
    };
    const CHANGED: Migration = Migration { sql: "CREATE TABLE b (x INTEGER);\n", ..SHARED };
    const NEXT: Migration =
        Migration { number: 2, name: "next", sql: "ALTER TABLE a ADD COLUMN x BLOB;\n" };
    on_each(|db, schema| {
        let of = |shared| Schema { shared, ..schema };
        let before = schema.own.len() as u32;
        migrate(db, &of(&[]), Timestamp(1)).unwrap();
        assert!(!schema.has(check(db, &of(&[])).unwrap(), Since::shared(1)));
        migrate(db, &of(&[SHARED]), Timestamp(2)).unwrap();
        assert_eq!(check(db, &of(&[SHARED])), Ok(before + 1));
        assert!(schema.has(before + 1, Since::shared(1)));
        assert!(!schema.has(before + 1, Since::shared(2)));
        let put = "INSERT INTO a (workspace, uid, owed) VALUES ($1, $2, $3)";
        db.execute(put, &[1_i64.into(), (&[7; 16]).into(), i64::MAX.into()]).unwrap();
        migrate(db, &of(&[SHARED, NEXT]), Timestamp(3)).unwrap();
        let read = |row: &dyn Row| Ok((row.array::<16>(0)?, row.int::<i64>(1)?));
        let found = db.all("SELECT uid, owed FROM a WHERE x IS NULL", &[], read).unwrap();
        assert_eq!(found, [([7; 16], i64::MAX)]);
        assert_eq!(check(db, &of(&[SHARED, NEXT]).up_to(before as usize + 1)), Err(newer(before)));
        let changed = check(db, &of(&[CHANGED, NEXT]));
        assert_eq!(changed, Err(Mismatch::Changed { number: before + 1 }));
    });
}

fn newer(before: u32) -> Mismatch {
    Mismatch::Newer { found: before + 2, known: before + 1 }
}

/// These were written for each engine by hand and are the same but for the dialect.
#[test]
fn the_translation_for_postgresql_is_what_was_written_by_hand() {
    for (sqlite, postgres) in [(7, 2), (8, 3), (9, 4)] {
        let [sqlite, postgres] = [SQLITE.own[sqlite - 1], POSTGRES.own[postgres - 1]];
        assert_eq!(for_postgres(sqlite.sql), postgres.sql, "{}", sqlite.name);
    }
}

/// Their numbers are their places, so that `Since::shared` names the version that they make.
#[test]
fn shared_migrations_are_numbered_from_one() {
    for schema in [SQLITE, POSTGRES] {
        for (step, number) in schema.steps().zip(1..) {
            assert_eq!(step.number, number, "{}", step.name);
        }
    }
}

/// A log as the first version left it. The migration computes its counts of unattended messages.
#[test]
fn a_folder_of_the_first_version_counts_what_agents_said_unattended() {
    let (_folder, db) = fresh();
    migrate(&*db, &SQLITE.up_to(1), Timestamp(1)).unwrap();
    let put = |sql: &str| db.execute(sql, &[]).unwrap();
    put("INSERT INTO head VALUES (1, 1, 9, x'00', 1, 9, 1)");
    put("INSERT INTO thread VALUES (1, 1, 3, x'01', NULL, 't', 2, 1, NULL, 3, x'00', 1, 1)");
    // kind 5 is a message, 6 an edit, 11 a change of status; hop 0 is a person's.
    let rows = [
        (1, "NULL", 5, 1),
        (2, "NULL", 5, 0),
        (3, "NULL", 10, 0),
        (4, "3", 5, 1),
        (5, "3", 11, 0),
        (6, "3", 5, 1),
        (7, "3", 5, 2),
        (8, "NULL", 5, 1),
        (9, "NULL", 8, 0),
    ];
    for (seq, thread, kind, hop) in rows {
        put(&format!(
            "INSERT INTO event (workspace, conversation, seq, uid, at, actor, thread, tseq, kind, hop,
                content_hash, hash) VALUES (1, 1, {seq}, x'{seq:02}', 1, 1, {thread}, 0, {kind}, {hop},
                x'00', x'00')"
        ));
    }
    migrate(&*db, &SQLITE, Timestamp(2)).unwrap();
    let count = |table: &str| {
        db.one(&format!("SELECT unattended FROM {table}"), &[], |row| row.int::<u32>(0)).unwrap()
    };
    assert_eq!((count("head"), count("thread")), (Some(1), Some(2)));
}
