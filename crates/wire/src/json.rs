//! Reading JSON that was sent. What is wrong with it is said in words for whoever sent it: which field, and what belongs
//! there.

use serde::de::DeserializeOwned;

/// Words of serde for types of Rust, and what they are in JSON.
const WORDS: [(&str, &str); 16] = [
    ("internally tagged enum ", "an object, "),
    ("adjacently tagged enum ", "an object, "),
    ("untagged enum ", "one of the forms of "),
    ("struct variant ", "an object, "),
    ("struct ", "an object, "),
    ("a sequence", "a list"),
    ("type: sequence", "type: a list"),
    ("type: map", "type: an object"),
    ("expected u8", "expected a whole number from 0 to 255"),
    ("expected u16", "expected a whole number from 0"),
    ("expected u32", "expected a whole number from 0"),
    ("expected u64", "expected a whole number from 0"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected any valid JSON value", "expected JSON"),
    ("invalid digit found in string", "it is no whole number from 0"),
];

/// Reads a `T`, or says why it is none: `limit: invalid type: string "x", expected a whole number from 0`.
///
/// It follows the path from the start, instead of reading anew what could not be read: each way of reading is code of its own
/// for each type.
pub fn read_json<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(mistake)?;
    match reader.end() {
        Ok(()) => Ok(value),
        Err(_) => Err("there is something after the end".to_owned()),
    }
}

fn mistake(wrong: serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, words) = (wrong.path().to_string(), wrong.inner().to_string());
    // A place in the text is of use where the text is no JSON.
    let in_text = wrong.inner().is_syntax() || wrong.inner().is_eof();
    let words = match words.split_once(" at line ") {
        Some((words, _)) if !in_text => words.to_owned(),
        _ => words,
    };
    let words = in_json(&words);
    if path == "." || in_text { words } else { format!("{path}: {words}") }
}

/// The words of a mistake without those of Rust.
pub fn in_json(words: &str) -> String {
    WORDS.iter().fold(words.to_owned(), |words, (rust, json)| words.replace(rust, json))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::rest::messages::NewMessage;

    // covers: ATT-461
    #[test]
    fn a_mistake_names_its_field() {
        let of = |json: &str| read_json::<NewMessage>(json).unwrap_err();
        assert_eq!(of(r#"{"text":[1]}"#), "text: invalid type: a list, expected a string");
        let nested = of(r#"{"text":"a","content":[{"type":"text","text":7}]}"#);
        assert!(nested.starts_with("content[0]"), "{nested}");
        assert_eq!(of(r#"{"text":"a" "b"}"#), "expected `,` or `}` at line 1 column 13");
        let unknown = of(r#"{"txt":"a"}"#);
        assert!(unknown.contains("unknown field `txt`"), "{unknown}");
    }
}
