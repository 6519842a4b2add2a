//! The bytes of files that are in an object store, and not in the database: there a file's row has the
//! name of its object in place of its bytes.

/// Reads the bytes of files from an object store. Calls block.
pub trait ReadObjects: Send + Sync {
    /// The bytes of an object, or why they cannot be read.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;
}

/// Where no object store is named.
#[derive(Clone, Copy, Debug)]
pub struct NoObjects;

impl ReadObjects for NoObjects {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!(
            "the bytes of a file are in an object store ({name}), and the settings name none; give [files] store"
        ))
    }
}
