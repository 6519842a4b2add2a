//! Where a workspace is stored, and how to open it there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::db::{Db, Result};
use crate::postgres::{Address, Postgres};
use crate::schema::{self, Schema};
use crate::sqlite::{Folder, Sqlite, Vfs, header};

/// A file in a data folder, or a database on a server.
#[derive(Clone, Debug)]
pub enum Place {
    Folder {
        data: PathBuf,
        /// For tests.
        vfs: Option<Arc<dyn Vfs>>,
    },
    Postgres(Arc<Address>),
}

impl Place {
    pub fn folder(data: &Path) -> Self {
        Self::Folder { data: data.to_owned(), vfs: None }
    }

    pub(crate) fn schema(&self) -> &'static Schema {
        match self {
            Self::Folder { .. } => &schema::SQLITE,
            Self::Postgres(_) => &schema::POSTGRES,
        }
    }

    /// A connection for interactive reads.
    pub(crate) fn reader(&self) -> Result<Box<dyn Db>> {
        Ok(match self {
            Self::Folder { data, vfs } => {
                let file = Folder::database_in(data);
                match header::is_at_rest(&file) && Folder::is_read_only(data) {
                    true => Box::new(Sqlite::immutable(&file)?),
                    false => Box::new(Sqlite::reader(&file, vfs.as_ref())?),
                }
            }
            Self::Postgres(address) => Box::new(Postgres::reader(address)?),
        })
    }

    /// Refuses a folder without a database, before anything opens it.
    pub(crate) fn must_be_there(&self) -> Result<()> {
        match self {
            Self::Folder { data, .. } => header::must_be_there(&Folder::database_in(data)),
            Self::Postgres(_) => Ok(()),
        }
    }

    /// A connection for reading everything, however long it takes.
    pub(crate) fn examiner(&self) -> Result<Box<dyn Db>> {
        match self {
            Self::Folder { .. } => self.reader(),
            Self::Postgres(address) => Ok(Box::new(Postgres::examiner(address)?)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { data, .. } => data.display().fmt(f),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}
