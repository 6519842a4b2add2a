//! The objects of a workspace, for whoever removes it.

use super::{Catalog, Entry};
use crate::asset;
use crate::db::Result;
use crate::sqlite::{Folder, Sqlite};

impl Catalog {
    /// The names of the objects that have the bytes of a workspace's files.
    pub fn objects(&self, entry: &Entry) -> Result<Vec<String>> {
        let named = match self.database {
            Some(_) => match &*self.there()? {
                Some(db) => asset::all_objects(&**db, entry.key)?,
                None => Vec::new(),
            },
            None => {
                let file = Folder::database_in(&self.folder(entry));
                if !file.exists() {
                    return Ok(Vec::new());
                }
                asset::all_objects(&Sqlite::alone(&file)?, entry.key)?
            }
        };
        Ok(named.into_iter().map(|(_, name)| name).collect())
    }
}
