//! Opens a data folder and its database, and starts the writer on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::approval::Rules;
use chorus_core::model::budget::Budgets;
use chorus_core::model::conversation::Keep;
use chorus_core::model::flow;
use chorus_core::model::ids::{ConversationKey, Uid};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Workspace;

use crate::clock::{Clock, SystemClock};
use crate::connections::Connections;
use crate::damage::Damage;
use crate::db::{Db, Error, Sync};
use crate::durable::Durable;
use crate::facts::Stored;
use crate::membership::{self, Epoch};
use crate::newest::{self, Newest};
use crate::open_error::OpenError;
use crate::postgres::{Address, Postgres};
use crate::reader::{Pool, Readers};
use crate::repair::{self, Repair};
use crate::schema::Mismatch;
use crate::sqlite::{Folder, Sqlite, Vfs, header};
use crate::stamps::Stamps;
use crate::writer::{self, Sink, Writer};
use crate::{Place, Tenant, audit, conversation, directory, families, schema};

/// Options for opening a data folder.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder; created if it does not exist.
    pub data: PathBuf,
    /// The database, if it is not a file in the folder.
    pub database: Option<Arc<Address>>,
    /// The epoch in which this process owns a workspace of the database. Without one the hosts' own
    /// is taken for as long as the store is open, unless a host has it.
    pub owned: Option<Epoch>,
    /// The connections to the database, where the workspace shares them with others.
    pub connections: Option<Connections>,
    /// The data folder, where this process holds it already.
    pub folder: Option<Arc<Folder>>,
    pub sync: Sync,
    /// If off, each command gets its own commit. For comparisons.
    pub batching: bool,
    /// Additional time per commit, to simulate a slow disk. For comparisons.
    pub slower_sync: Duration,
    /// Whether a workspace is created in a place without one. Otherwise such a place counts as the
    /// wrong one.
    pub may_begin: bool,
    /// The public id and name for a new workspace.
    pub workspace: Uid,
    pub name: String,
    /// How many messages agents may post without a person, in conversations without their own
    /// budget.
    pub budgets: Budgets,
    /// How often followers receive digests, in milliseconds; none means never.
    pub digests: Option<i64>,
    /// What needs a person's approval.
    pub approvals: Rules,
    /// The settings for reading the flow of talk.
    pub flow: flow::Settings,
    /// Default deferral time, in milliseconds.
    pub deferral: i64,
    /// The retention period of conversations that set none.
    pub keep: Keep,
    pub clock: Arc<dyn Clock>,
    /// For tests.
    pub vfs: Option<Arc<dyn Vfs>>,
}

impl Options {
    pub fn new(data: &Path, workspace: Uid) -> Self {
        Self {
            data: data.to_owned(),
            database: None,
            owned: None,
            connections: None,
            folder: None,
            sync: Sync::Full,
            batching: true,
            slower_sync: Duration::ZERO,
            may_begin: true,
            workspace,
            name: "default".to_owned(),
            budgets: Budgets::default(),
            digests: Some(chorus_core::model::limits::DIGEST_MS),
            approvals: Rules::default(),
            flow: flow::Settings::default(),
            deferral: chorus_core::model::limits::DEFERRAL_MS,
            keep: Keep::default(),
            clock: Arc::new(SystemClock),
            vfs: None,
        }
    }

    /// The workspace's key in the rows of its place.
    fn key(&self) -> i64 {
        self.owned.map_or(Tenant::OWN, |epoch| epoch.workspace)
    }

    /// Where the workspace is kept.
    pub fn place(&self) -> Place {
        match &self.database {
            Some(address) => Place::Postgres(address.clone()),
            None => Place::Folder { data: self.data.clone(), vfs: self.vfs.clone() },
        }
    }
}

/// An opened data folder, before the writer starts.
pub struct Store {
    options: Options,
    opened: Opened,
    /// Held until the connection is closed: fields are dropped in this order.
    folder: Arc<Folder>,
}

/// Opens the folder, migrates its schema, creates the workspace in an empty one, and repairs what a
/// restarting host needs.
pub fn open(options: Options) -> Result<Store, OpenError> {
    if options.database.is_none() {
        must_not_be_lost(&options)
            .map_err(|why| OpenError::Database { place: options.place(), why })?;
    }
    let folder = match options.folder.clone() {
        Some(held) => held,
        None => Arc::new(Folder::hold(&options.data).map_err(OpenError::Folder)?),
    };
    match Opened::of(&options, &folder) {
        Ok(opened) => Ok(Store { opened, options, folder }),
        Err(why) => {
            take_back(folder, options);
            Err(why)
        }
    }
}

/// Removes what was created in an empty folder, unless whoever opened it holds it still.
fn take_back(folder: Arc<Folder>, options: Options) {
    drop(options);
    if let Some(folder) = Arc::into_inner(folder) {
        folder.take_back();
    }
}

/// Refuses a file that is not a database before anything is created next to it. Also refuses an
/// empty or missing one in a folder that had a database.
fn must_not_be_lost(options: &Options) -> Result<(), Error> {
    let file = Folder::database_in(&options.data);
    match header::look(&file)? {
        header::Found::Database => Ok(()),
        header::Found::Nothing if is_new(options) && header::is_at_rest(&file) => Ok(()),
        header::Found::Nothing => Err(header::nothing(&file)),
    }
}

/// Whether there is no sign of an earlier workspace in the folder.
fn is_new(options: &Options) -> bool {
    options.may_begin && !newest::is_there(&options.data)
}

fn must_be_migrated(db: &dyn Db) -> Result<(), Mismatch> {
    let (found, known) = (schema::check(db, &schema::POSTGRES)?, schema::POSTGRES.version());
    if found == known {
        return Ok(());
    }
    let why = format!(
        "its schema is of version {found} until a host of this version serves the hosts' own workspace"
    );
    Err(Mismatch::Database(Error::Engine(why)))
}

/// What was found in the database.
struct Opened {
    db: Box<dyn Db>,
    tenant: Tenant,
    directory: Directory,
    repairs: Vec<Repair>,
    /// The disk has no space, and nothing can be written.
    full: bool,
}

impl Opened {
    fn of(options: &Options, folder: &Folder) -> Result<Self, OpenError> {
        let (now, place) = (options.clock.now(), options.place());
        let database = |why| OpenError::Database { place: place.clone(), why };
        let migrate = |db: &dyn Db| {
            let migrated = schema::migrate(db, place.schema(), now);
            migrated.map_err(|why| OpenError::Schema { place: place.clone(), why })
        };
        let mut full = false;
        let db: Box<dyn Db> = match &options.database {
            None => {
                let file = folder.database().map_err(OpenError::Folder)?;
                full = !folder.has_space();
                if full {
                    folder.free_reserve();
                    tracing::error!(%place, "there is no space left; commands are refused until there is");
                }
                // SQLite does not always report it as lack of space if it cannot create a file next
                // to the database.
                let database = |why| match why {
                    Error::Engine(why) if full => database(Error::Full(why)),
                    why => database(why),
                };
                if let Some(lost) = newest::lost(&place).map_err(database)? {
                    return Err(OpenError::Lost { place, lost });
                }
                if !is_new(options) && newest::is_without(&place).map_err(database)? {
                    let why = "it holds no workspace, and there was one in this folder: put chorus.db back with its \
                               chorus.db-wal, or restore a backup into another folder";
                    return Err(database(Error::corrupt(why)));
                }
                let db = Sqlite::writer(&file, options.vfs.as_ref(), options.sync);
                let db = db.map_err(database)?;
                migrate(&db)?;
                Box::new(db)
            }
            Some(address) => {
                folder.must_have_no_database().map_err(OpenError::Folder)?;
                let db = match (options.owned, &options.connections) {
                    (Some(epoch), Some(shared)) => Ok(Postgres::sharing(&shared.writers, epoch)),
                    (Some(epoch), None) => Postgres::owner(address, options.sync, epoch, None),
                    (None, _) => membership::writer(address, options.sync),
                };
                let db = db.map_err(database)?;
                match options.key() {
                    Tenant::OWN => migrate(&db)?,
                    // Whoever serves the hosts' own brings it up to date.
                    _ => must_be_migrated(&db)
                        .map_err(|why| OpenError::Schema { place: place.clone(), why })?,
                }
                Box::new(db)
            }
        };
        let tenant = match directory::tenant(&*db, options.key()).map_err(database)? {
            Some(tenant) => tenant,
            None if !options.may_begin => {
                let why = "it holds no workspace, but a host has used this data folder: is it the right database?";
                return Err(database(Error::Engine(why.to_owned())));
            }
            // A new workspace could not be completed.
            None if full => {
                let why = "a new workspace needs 4 MiB of space in its data folder";
                return Err(database(Error::Full(why.to_owned())));
            }
            None => {
                let (uid, name) = (options.workspace, options.name.as_str().into());
                let tenant = Tenant { key: options.key(), uid, name, epoch: 1, lead: None };
                directory::add_tenant(&*db, &tenant, now).map_err(database)?;
                tenant
            }
        };
        let directory = families::load(&*db, &tenant, now).map_err(database)?;
        let repairs = repair::at_start(&*db, &tenant, &directory, now).map_err(database)?;
        Ok(Self { db, tenant, directory, repairs, full })
    }
}

impl Store {
    /// The workspace that the folder holds.
    pub fn tenant(&self) -> &Tenant {
        &self.opened.tenant
    }

    /// The directory as stored.
    pub fn directory(&self) -> &Directory {
        &self.opened.directory
    }

    /// What was repaired when it was opened.
    pub fn repairs(&self) -> &[Repair] {
        &self.opened.repairs
    }

    /// It will not be used after all: removes what was created in an empty folder.
    pub fn take_back(self) {
        let Self { opened, folder, options } = self;
        drop(opened);
        take_back(folder, options);
    }

    /// Wraps the connection, so that a test can make it fail.
    #[cfg(test)]
    pub(crate) fn map_db(mut self, wrap: impl FnOnce(Box<dyn Db>) -> Box<dyn Db>) -> Self {
        self.opened.db = wrap(self.opened.db);
        self
    }

    /// Starts the writer on a thread of its own. `sink` receives the effects of each batch after
    /// its commit is on disk, on a thread of the writer, and must not block.
    pub fn start(self, sink: Box<dyn Sink>) -> Result<(Writer, Readers), OpenError> {
        let Self { options, opened, folder } = self;
        let Opened { db, tenant, directory, repairs: _, full } = opened;
        let place = options.place();
        let why = |why| OpenError::Database { place: place.clone(), why };
        let stamps = Arc::new(Stamps::default());
        let damage = Arc::new(Damage::default());
        let pool = match &options.connections {
            Some(shared) => shared.readers.clone(),
            None => Arc::new(Pool::new(place.clone())),
        };
        let durable = Arc::new(Durable::default());
        let readers =
            Readers::new(pool, tenant.key, stamps.clone(), damage.clone(), durable.clone());
        let (workspace, damaged) =
            revive(&*db, &tenant, directory, &options, options.clock.now()).map_err(why)?;
        let audit = audit::head(&*db, tenant.key).map_err(why)?;
        let newest = match (&options.database, options.sync) {
            (Some(_), _) => None,
            // The record could be ahead of what is on disk.
            (None, Sync::DangerousNormal) => {
                newest::forget(&options.data);
                None
            }
            (None, _) => {
                let extent = newest::extent(&*db, tenant.key).map_err(why)?;
                extent.map(|extent| Newest::new(&options.data, tenant.uid, extent))
            }
        };
        let sync = match options.sync {
            Sync::DangerousNormal => None,
            Sync::Full | Sync::DangerousAnswerFirst => db.defer_sync().map_err(why)?,
        };
        let setup = writer::Setup {
            folder,
            db,
            tenant: tenant.key,
            workspace,
            damaged,
            clock: options.clock.clone(),
            sink,
            audit,
            batching: options.batching,
            slower_sync: options.slower_sync,
            answer_first: options.sync == Sync::DangerousAnswerFirst,
            stamps,
            damage,
            newest,
            sync,
            durable,
            full,
        };
        Ok((writer::start(setup).map_err(|error| why(Error::Engine(error.to_string())))?, readers))
    }
}

/// The workspace with every room in which something is owed, so that its timers run, and the rooms
/// that cannot be read, which the writer reports and leaves alone.
fn revive(
    db: &dyn Db,
    tenant: &Tenant,
    directory: Directory,
    options: &Options,
    now: chorus_core::model::ids::Timestamp,
) -> Result<(Workspace, BTreeSet<ConversationKey>), Error> {
    let last = conversation::last_key(db, tenant.key)?;
    let workspace = Workspace::new(directory, last);
    let workspace = workspace.with_budgets(options.budgets).with_approvals(options.approvals);
    let mut workspace = workspace.with_flow(options.flow).with_deferral(options.deferral);
    workspace.set_digests(options.digests);
    workspace.set_keep(options.keep);
    let directory = workspace.directory().clone();
    let stored = Stored::new(db, tenant.key, directory, now);
    let mut damaged = BTreeSet::new();
    for key in conversation::with_open_events(db, tenant.key)? {
        match stored.load(key) {
            Ok(Some(room)) => workspace.admit(room),
            Ok(None) => {}
            Err(Error::Corrupt(_)) => {
                damaged.insert(key);
            }
            Err(error) => return Err(error),
        }
    }
    workspace.wakes_after_start(now);
    workspace.track_jobs();
    Ok((workspace, damaged))
}
