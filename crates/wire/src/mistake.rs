//! What is wrong with JSON that was sent, in words for whoever sent it: which field, and what belongs there.

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

/// Why `json` is no `T`: `limit: invalid type: string "x", expected a whole number from 0`. Call it only for what could not
/// be read, since it reads anew.
pub fn mistake<T: DeserializeOwned>(json: &[u8]) -> String {
    let mut reader = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => "there is something after the end".to_owned(),
        Err(wrong) => {
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
    }
}

/// The words of a mistake without those of Rust.
pub fn in_json(words: &str) -> String {
    WORDS.iter().fold(words.to_owned(), |words, (rust, json)| words.replace(rust, json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::messages::NewMessage;

    // covers: ATT-461
    #[test]
    fn a_mistake_names_its_field() {
        let of = |json: &str| mistake::<NewMessage>(json.as_bytes());
        assert_eq!(of(r#"{"text":[1]}"#), "text: invalid type: a list, expected a string");
        let nested = of(r#"{"text":"a","content":[{"type":"text","text":7}]}"#);
        assert!(nested.starts_with("content[0]"), "{nested}");
        assert_eq!(of(r#"{"text":"a" "b"}"#), "expected `,` or `}` at line 1 column 13");
        let unknown = of(r#"{"txt":"a"}"#);
        assert!(unknown.contains("unknown field `txt`"), "{unknown}");
    }
}
