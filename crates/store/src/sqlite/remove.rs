//! Removes a database file with all files that SQLite keeps next to it.

use std::io;
use std::path::Path;

/// Removes a database file and the files next to it, if they exist.
pub fn remove_database(file: &Path) {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(ending);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a left-over database file cannot be removed");
            }
            _ => {}
        }
    }
}
