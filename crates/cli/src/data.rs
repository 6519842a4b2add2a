//! JSON that a command is given, and the ids that it draws.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::value::RawValue;
use uuid::Builder;

use crate::failure::{Failure, Result};

/// The JSON of an argument: itself, that of `@FILE`, or with `-` that of standard input.
pub(crate) fn json(option: &str, given: &str) -> Result<Box<RawValue>> {
    let text = match given.strip_prefix('@') {
        Some(file) => read(Path::new(file))?,
        None if given == "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|e| Failure::here("cannot read standard input", e))?;
            text
        }
        None => given.to_owned(),
    };
    parsed(option, text)
}

/// The JSON of a file.
pub(crate) fn json_file(option: &str, file: &Path) -> Result<Box<RawValue>> {
    parsed(option, read(file)?)
}

/// A UUID that nobody has used.
pub(crate) fn new_uuid() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Failure::here("cannot draw an id", e))?;
    Ok(Builder::from_random_bytes(bytes).into_uuid().to_string())
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|e| Failure::usage(format!("{}: {e}", file.display())))
}

fn parsed(option: &str, text: String) -> Result<Box<RawValue>> {
    RawValue::from_string(text).map_err(|e| {
        let wrong = Failure::usage(format!("{option} is no JSON: {e}"));
        wrong.next("write it as JSON, or give @FILE, or - for standard input")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    // covers: REG-90
    #[test]
    fn json_is_an_argument_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.json");
        fs::write(&file, "{\"a\": 1}\n").unwrap();
        assert_eq!(json("--input", "{\"a\": 1}").unwrap().get(), "{\"a\": 1}");
        assert_eq!(json("--input", &format!("@{}", file.display())).unwrap().get(), "{\"a\": 1}");
        for bad in ["", "hello", "{", "@/nowhere/at.json"] {
            assert_eq!(json("--input", bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }

    #[test]
    fn a_drawn_id_is_a_uuid_of_version_4() {
        let id = new_uuid().unwrap();
        assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
        assert_ne!(id, new_uuid().unwrap());
    }
}
