//! One host among several: its identity, and whether it has the database exclusively.
//!
//! Two advisory locks of the writer's connection say so, and end with it. Each host holds one by
//! its number, which shows others that it is alive. The other is for the database: held exclusively
//! by a host that is alone, otherwise shared by all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::link::Use;
use super::{LOCK, LOOK_AGAIN, Postgres, listen};
use crate::db::{Db, Error, Heard, Result, Shared, Sync};
use crate::postgres::Address;

/// How long an exclusive host may take to let another one join.
const PATIENCE: Duration = Duration::from_secs(30);

/// The only workspace of a database, until hosts serve several.
const WORKSPACE: i64 = 1;

/// The class of the locks that show live hosts. No other lock of this program uses it, and neither
/// do hosts of another schema.
const HOSTS: &str = "(hashtext(current_schema()) & 2147483647)";

/// The state that lasts as long as the writer's connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// This host's number, or 0 before it has one.
    host: u32,
    alone: bool,
    /// The number of the newest news when this host took the database exclusively.
    moved: u64,
    stale: bool,
}

impl Postgres {
    /// The write connection of a host that has not joined yet.
    pub(crate) fn host(address: &Arc<Address>, sync: Sync) -> Result<Self> {
        Self::open(address, Use::Host(sync))
    }

    /// Joins: exclusively after `migrate`, or as one of several hosts, if `check` accepts their
    /// schema.
    pub(crate) fn come_in<E>(
        &self,
        migrate: impl FnOnce(&dyn Db) -> std::result::Result<(), E>,
        check: impl FnOnce(&dyn Db) -> std::result::Result<(), E>,
        failed: impl Fn(Error) -> E,
    ) -> std::result::Result<(), E> {
        let until = Instant::now() + PATIENCE;
        let mut check = Some(check);
        loop {
            if self.try_exclusive().map_err(&failed)? {
                migrate(self)?;
                return self.enlist().and_then(|()| self.begin_alone()).map_err(&failed);
            }
            if self.standing.get().host == 0 && self.has_hosts().map_err(&failed)? {
                if let Some(check) = check.take() {
                    check(self)?;
                }
                self.enlist().and_then(|()| self.call()).map_err(&failed)?;
            }
            if self.standing.get().host > 0 && self.try_shared().map_err(&failed)? {
                self.set(|s| s.stale = true);
                return Ok(());
            }
            if Instant::now() >= until {
                let why = "another host has it exclusively and lets no other host join; check that host, or stop it";
                return Err(failed(Error::Engine(why.to_owned())));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Restores the locks and the identity of a host after a reconnect.
    pub(super) fn come_back(&self) -> Result<()> {
        let Standing { host, alone, moved, .. } = self.standing.get();
        if host == 0 {
            return match self.try_exclusive()? {
                true => Ok(()),
                false => Err(Error::Lost("another connection holds it".to_owned())),
            };
        }
        if !self.be_seen()? {
            return Err(Error::Lost("the previous connection is still open".to_owned()));
        }
        // If the server was down, the other hosts of this database will reconnect soon.
        if !alone && self.try_shared()? {
            self.set(|s| s.stale = true);
            return Ok(());
        }
        if self.try_exclusive()? {
            // A host that takes the database exclusively increases the number.
            if !alone || self.newest()? != moved {
                self.begin_alone()?;
                self.set(|s| s.stale = true);
            }
            return Ok(());
        }
        self.set(|s| s.alone = false);
        if self.try_shared()? {
            self.set(|s| s.stale = true);
            return Ok(());
        }
        self.call()?;
        Err(Error::Lost("another host has it exclusively, and was asked to share it".to_owned()))
    }

    fn set(&self, change: impl FnOnce(&mut Standing)) {
        let mut standing = self.standing.get();
        change(&mut standing);
        self.standing.set(standing);
    }

    fn yes(&self, sql: &str) -> Result<bool> {
        let db: &dyn Db = self;
        Ok(db.one(sql, &[], |row| row.flag(0))?.unwrap_or(false))
    }

    /// Takes the database exclusively for this connection; false when another has it.
    pub(super) fn try_exclusive(&self) -> Result<bool> {
        self.yes(&format!("SELECT pg_try_advisory_lock({LOCK}, hashtext(current_schema()))::int"))
    }

    fn try_shared(&self) -> Result<bool> {
        let sql = "SELECT pg_try_advisory_lock_shared";
        self.yes(&format!("{sql}({LOCK}, hashtext(current_schema()))::int"))
    }

    /// Whether the database was used by a version that supports several hosts.
    fn has_hosts(&self) -> Result<bool> {
        self.yes("SELECT count(to_regclass('turn'))::int")
    }

    /// Gives this host its number, and shows that it is alive.
    fn enlist(&self) -> Result<()> {
        let db: &dyn Db = self;
        let first = "INSERT INTO turn (workspace, moved) VALUES ($1, 0)
            ON CONFLICT (workspace) DO NOTHING";
        db.execute(first, &[WORKSPACE.into()])?;
        let sql = "INSERT INTO host (workspace, number) VALUES ($1, 1)
            ON CONFLICT (workspace) DO UPDATE SET number = host.number + 1 RETURNING number";
        let number = db.one(sql, &[WORKSPACE.into()], |row| row.int(0))?;
        self.set(|s| s.host = number.unwrap_or(0));
        self.be_seen().map(drop)
    }

    fn be_seen(&self) -> Result<bool> {
        let host = self.standing.get().host;
        self.yes(&format!("SELECT pg_try_advisory_lock({HOSTS}, {host})::int"))
    }

    /// An exclusive host writes no news. The gap in their numbers tells other hosts that it wrote.
    fn begin_alone(&self) -> Result<()> {
        let db: &dyn Db = self;
        let sql = "UPDATE turn SET moved = moved + 1 WHERE workspace = $1 RETURNING moved";
        let moved = db.one(sql, &[WORKSPACE.into()], |row| row.int(0))?.unwrap_or(0);
        self.set(|s| (s.alone, s.moved) = (true, moved));
        Ok(())
    }

    /// Asks the exclusive host to let others join.
    fn call(&self) -> Result<()> {
        let host = self.standing.get().host;
        self.yes(&format!("SELECT count(pg_notify('chorus', current_schema() || ' {host}'))::int"))
            .map(drop)
    }

    /// The statement that ends the current transaction.
    pub(super) fn commit_words(&self) -> String {
        match self.tells.take() {
            false => "COMMIT".to_owned(),
            true => {
                let host = self.standing.get().host;
                format!("SELECT pg_notify('chorus', current_schema() || ' {host}'); COMMIT")
            }
        }
    }
}

impl Shared for Postgres {
    fn host(&self) -> u32 {
        self.standing.get().host
    }

    fn is_alone(&self) -> bool {
        self.standing.get().alone
    }

    fn wait_for_turn(&self) -> Result<u64> {
        let sql = "SELECT moved FROM turn WHERE workspace = $1 FOR UPDATE";
        let db: &dyn Db = self;
        let moved = db.one(sql, &[WORKSPACE.into()], |row| row.int(0))?;
        moved.ok_or_else(|| Error::corrupt("the row for the write turn is missing"))
    }

    fn newest(&self) -> Result<u64> {
        let sql = "SELECT moved FROM turn WHERE workspace = $1";
        let db: &dyn Db = self;
        Ok(db.one(sql, &[WORKSPACE.into()], |row| row.int(0))?.unwrap_or(0))
    }

    fn hosts(&self) -> Result<Vec<u32>> {
        let sql = format!(
            "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
                AND classid::bigint = {HOSTS}
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        );
        let db: &dyn Db = self;
        db.all(&sql, &[], |row| row.int(0))
    }

    fn let_in(&self) -> Result<()> {
        if !self.try_shared()? {
            return Err(Error::Engine("a lock that is held was refused".to_owned()));
        }
        self.set(|s| s.alone = false);
        self.yes(&format!("SELECT pg_advisory_unlock({LOCK}, hashtext(current_schema()))::int"))
            .map(drop)
    }

    fn try_alone(&self, seen: u64) -> Result<bool> {
        if !self.try_exclusive()? {
            return Ok(false);
        }
        let unlock = "SELECT pg_advisory_unlock";
        if self.newest()? != seen {
            self.yes(&format!("{unlock}({LOCK}, hashtext(current_schema()))::int"))?;
            return Ok(false);
        }
        self.begin_alone()?;
        self.yes(&format!("{unlock}_shared({LOCK}, hashtext(current_schema()))::int"))?;
        Ok(true)
    }

    fn agree_on_keys(&self, ours: &[u8]) -> Result<bool> {
        let db: &dyn Db = self;
        if self.is_alone() {
            let sql = "UPDATE host SET keys = $1 WHERE workspace = $2";
            return Ok(db.execute(sql, &[ours.into(), WORKSPACE.into()])? > 0);
        }
        let sql = "SELECT 1 FROM host WHERE workspace = $1 AND (keys IS NULL OR keys = $2)";
        Ok(db.one(sql, &[WORKSPACE.into(), ours.into()], |_| Ok(()))?.is_some())
    }

    fn tell(&self) {
        self.tells.set(true);
    }

    fn take_stale(&self) -> bool {
        let stale = self.standing.get().stale;
        self.set(|s| s.stale = false);
        stale
    }

    fn listen(
        &self,
        heard: Box<dyn Fn(Heard) + Send + std::marker::Sync>,
    ) -> Result<Box<dyn Send>> {
        let db: &dyn Db = self;
        let sql = "SELECT current_schema()::text";
        let schema = db.one(sql, &[], |row| Ok(row.text(0)?.to_owned()))?.unwrap_or_default();
        let own = format!("{schema} {}", self.standing.get().host);
        Ok(Box::new(listen::start(self.address.clone(), schema, own, heard)?))
    }
}
