//! The file in the data folder that says how the running host is reached.

use std::path::Path;
use std::{fs, io};

use serde_json::json;

use super::{HOST_FILE, StartError};
use crate::auth::write_private;

/// Writes the file. A host that serves what it has is worth more than a command that finds it by its folder, so that a
/// full disk does not end the start.
pub(super) fn write(data: &Path, url: &str) -> Result<(), StartError> {
    let path = data.join(HOST_FILE);
    match write_private(&path, content(url).as_bytes()) {
        Err(why) if is_full(&why) => {
            tracing::error!(
                "host.json could not be written: commands need --url until there is space"
            );
            Ok(())
        }
        Err(why) => Err(StartError::File { path, why }),
        Ok(()) => Ok(()),
    }
}

/// Removes the file, unless another host has written it meanwhile.
pub(super) fn remove(data: &Path, url: &str) {
    let path = data.join(HOST_FILE);
    if fs::read_to_string(&path).is_ok_and(|text| text == content(url)) {
        // It is found to be stale where it stays.
        let _ = fs::remove_file(&path);
    }
}

fn content(url: &str) -> String {
    json!({"url": url, "pid": std::process::id()}).to_string()
}

fn is_full(why: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(why.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
