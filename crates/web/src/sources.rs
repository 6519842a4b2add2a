//! What the page is built from, as one hash: `dist/manifest.json` has that of its sources, so that whoever changes them
//! and forgets to build learns of it without Node.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

use crate::hex;

/// Folders of `web/` of which the page is made, with everything below them. Beside them count the files of `web/` itself:
/// the lockfile and what configures the build.
const FOLDERS: [&str; 3] = ["public", "scripts", "src"];

/// The SHA-256 over all sources in `web`, with their names; none where there are no sources.
///
/// # Errors
///
/// A file or folder cannot be read.
pub fn hash(web: &Path) -> io::Result<Option<String>> {
    if !web.join("package.json").exists() {
        return Ok(None);
    }
    let mut files = Vec::new();
    collect(web, false, &mut files)?;
    for folder in FOLDERS.map(|folder| web.join(folder)).into_iter().filter(|f| f.is_dir()) {
        collect(&folder, true, &mut files)?;
    }
    let mut named: Vec<(String, PathBuf)> = files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(web).unwrap_or(&file);
            (name.to_string_lossy().replace('\\', "/"), file)
        })
        .collect();
    named.sort();
    let mut hash = Sha256::new();
    for (name, file) in named {
        let content = fs::read(file)?;
        hash.update(format!("{name}\n{}\n", content.len()));
        hash.update(content);
    }
    Ok(Some(hex(&hash.finalize())))
}

fn collect(folder: &Path, all: bool, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match path.is_dir() {
            _ if hidden => {}
            true if all => collect(&path, true, files)?,
            true => {}
            false => files.push(path),
        }
    }
    Ok(())
}
