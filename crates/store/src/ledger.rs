//! The ledger: accounts, entries, and what members may spend (registry spec section 3.5).

mod check;

use chorus_core::codec::Coded;
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::ledger::{Account, Credits, Entry, Head, Spending};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::row::{code, maybe_uid};
use crate::schema::Since;

pub(crate) static ACCOUNT: Table =
    Table::new("account", 2, &["workspace", "owner", "balance", "opened_at"]);

pub(crate) static ENTRY: Table = Table::new(
    "ledger_entry",
    2,
    &[
        "workspace",
        "number",
        "at",
        "kind",
        "payer",
        "payee",
        "amount",
        "job",
        "transfer",
        "made_by",
        "memo",
        "hash",
    ],
);

pub(crate) static LEDGER: Table =
    Table::new("ledger", 1, &["workspace", "number", "hash", "minted"]);

pub(crate) static SPENDING: Table =
    Table::new("spending", 2, &["workspace", "member", "per_job", "per_day", "day", "spent"]);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(2), &[&ACCOUNT, &ENTRY, &LEDGER, &SPENDING])
        .recorded(record)
        .checked(check::check);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    for account in changes.accounts.values() {
        put_account(db, workspace, account)?;
    }
    for entry in &changes.entries {
        put_entry(db, workspace, entry)?;
    }
    for spending in changes.spending.values() {
        put_spending(db, workspace, spending)?;
    }
    match &changes.ledger {
        Some(head) => put_head(db, workspace, head),
        None => Ok(()),
    }
}

pub(crate) fn put_account(db: &dyn Db, workspace: i64, account: &Account) -> Result<()> {
    let (balance, opened_at) = (account.balance.0.into(), account.opened_at.0.into());
    db.put(&ACCOUNT, &[workspace.into(), (&*account.owner).into(), balance, opened_at])
}

pub(crate) fn put_entry(db: &dyn Db, workspace: i64, entry: &Entry) -> Result<()> {
    let (job, transfer) = (entry.job.map(bytes), entry.transfer.map(bytes));
    db.insert(
        &ENTRY,
        &[
            workspace.into(),
            entry.number.into(),
            entry.at.0.into(),
            entry.kind.code().into(),
            (&*entry.from).into(),
            (&*entry.to).into(),
            entry.amount.0.into(),
            job.as_ref().into(),
            transfer.as_ref().into(),
            entry.by.0.into(),
            entry.memo.as_deref().into(),
            (&entry.hash).into(),
        ],
    )
}

pub(crate) fn put_head(db: &dyn Db, workspace: i64, head: &Head) -> Result<()> {
    let (number, minted) = (head.number.into(), head.minted.0.into());
    db.put(&LEDGER, &[workspace.into(), number, (&head.hash).into(), minted])
}

pub(crate) fn put_spending(db: &dyn Db, workspace: i64, spending: &Spending) -> Result<()> {
    db.put(
        &SPENDING,
        &[
            workspace.into(),
            spending.member.0.into(),
            spending.per_job.map(|most| most.0).into(),
            spending.per_day.map(|most| most.0).into(),
            spending.day.into(),
            spending.spent.0.into(),
        ],
    )
}

fn bytes(uid: Uid) -> [u8; 16] {
    uid.0.to_be_bytes()
}

pub(crate) fn account(db: &dyn Db, workspace: i64, owner: &str) -> Result<Option<Account>> {
    db.get(&ACCOUNT, &[workspace.into(), owner.into()], read_account)
}

/// Accounts after an owner, by owner.
pub(crate) fn accounts(
    db: &dyn Db,
    workspace: i64,
    after: &str,
    limit: usize,
) -> Result<Vec<Account>> {
    let sql =
        format!("{} WHERE workspace = $1 AND owner > $2 ORDER BY owner LIMIT $3", ACCOUNT.select());
    db.all(&sql, &[workspace.into(), after.into(), (limit as u64).into()], read_account)
}

pub(crate) fn head(db: &dyn Db, workspace: i64) -> Result<Head> {
    let head = db.get(&LEDGER, &[workspace.into()], |row| {
        Ok(Head { number: row.int(1)?, hash: row.array(2)?, minted: Credits(row.int(3)?) })
    })?;
    Ok(head.unwrap_or_default())
}

pub(crate) fn spending(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<Option<Spending>> {
    db.get(&SPENDING, &[workspace.into(), member.0.into()], read_spending)
}

/// The limits of all members who have any.
pub(crate) fn all_spending(db: &dyn Db, workspace: i64) -> Result<Vec<Spending>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY member", SPENDING.select());
    db.all(&sql, &[workspace.into()], read_spending)
}

pub(crate) fn transfer(db: &dyn Db, workspace: i64, uid: Uid) -> Result<Option<Entry>> {
    let sql = format!("{} WHERE workspace = $1 AND transfer = $2", ENTRY.select());
    db.one(&sql, &[workspace.into(), (&bytes(uid)).into()], read_entry)
}

/// The entries of one job, in order.
pub(crate) fn of_job(db: &dyn Db, workspace: i64, job: Uid) -> Result<Vec<Entry>> {
    let sql = format!("{} WHERE workspace = $1 AND job = $2 ORDER BY number", ENTRY.select());
    db.all(&sql, &[workspace.into(), (&bytes(job)).into()], read_entry)
}

/// Entries after a number, in order.
pub(crate) fn entries(db: &dyn Db, workspace: i64, after: u64, limit: usize) -> Result<Vec<Entry>> {
    let sql =
        format!("{} WHERE workspace = $1 AND number > $2 ORDER BY number LIMIT $3", ENTRY.select());
    db.all(&sql, &[workspace.into(), after.into(), (limit as u64).into()], read_entry)
}

/// Entries of one account before a number, newest first.
pub(crate) fn statement(
    db: &dyn Db,
    workspace: i64,
    owner: &str,
    before: u64,
    limit: usize,
) -> Result<Vec<Entry>> {
    let limit = limit as u64;
    let mut found = Vec::new();
    for side in ["payer", "payee"] {
        let sql = format!(
            "{} WHERE workspace = $1 AND {side} = $2 AND number < $3 ORDER BY number DESC LIMIT $4",
            ENTRY.select()
        );
        let values = [workspace.into(), owner.into(), before.into(), limit.into()];
        found.extend(db.all(&sql, &values, read_entry)?);
    }
    found.sort_by_key(|entry| std::cmp::Reverse(entry.number));
    found.truncate(limit as usize);
    Ok(found)
}

fn read_account(row: &dyn Row) -> Result<Account> {
    let owner = row.text(1)?.into();
    Ok(Account { owner, balance: Credits(row.int(2)?), opened_at: Timestamp(row.int(3)?) })
}

fn read_spending(row: &dyn Row) -> Result<Spending> {
    Ok(Spending {
        member: MemberKey(row.int(1)?),
        per_job: row.maybe_int(2)?.map(Credits),
        per_day: row.maybe_int(3)?.map(Credits),
        day: row.int(4)?,
        spent: Credits(row.int(5)?),
    })
}

fn read_entry(row: &dyn Row) -> Result<Entry> {
    Ok(Entry {
        number: row.int(1)?,
        at: Timestamp(row.int(2)?),
        kind: code(row, 3)?,
        from: row.text(4)?.into(),
        to: row.text(5)?.into(),
        amount: Credits(row.int(6)?),
        job: maybe_uid(row, 7)?,
        transfer: maybe_uid(row, 8)?,
        by: MemberKey(row.int(9)?),
        memo: row.maybe_text(10)?.map(Into::into),
        hash: row.array(11)?,
    })
}
