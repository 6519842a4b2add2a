//! One entry of a JSON settings file: read, put and removed. Every other byte stays as it is, because the entry is cut in
//! as text; nothing is written anew.

use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;

/// What a file without any members is indented with.
const INDENT: &str = "  ";

/// An object of the text: where it stands, and its members in order.
#[derive(Debug)]
struct Object {
    at: Range<usize>,
    members: Vec<(String, Range<usize>)>,
}

/// How the file is written: what one level is indented with, if it is on several lines at all.
pub(super) struct Style {
    indent: Option<String>,
    newline: &'static str,
}

/// Where the entry `section.name` stands.
pub(super) fn place(text: &str, section: &str, name: &str) -> Result<Option<Range<usize>>, String> {
    let Some((inner, _)) = inner(text, section)? else { return Ok(None) };
    inner.find(name)
}

/// The entry `section.name`.
pub(super) fn get(text: &str, section: &str, name: &str) -> Result<Option<Value>, String> {
    let at = place(text, section, name)?;
    Ok(at.and_then(|at| serde_json::from_str(&text[at]).ok()))
}

/// The text with the entry `section.name`; the section is made if there is none.
pub(super) fn put(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return put("{}\n", section, name, entry);
    }
    let root = root(text)?;
    let style = Style::within(text, &root);
    match inner(text, section)? {
        Some((inner, _)) => inner.put(text, &style, 2, name, entry),
        None => {
            let whole = serde_json::json!({ name: entry });
            root.put(text, &style, 1, section, &whole)
        }
    }
}

/// The text without the entry; none if it has none. A section that is left empty stays.
pub(super) fn remove(text: &str, section: &str, name: &str) -> Result<Option<String>, String> {
    let Some((inner, _)) = inner(text, section)? else { return Ok(None) };
    inner.find(name)?;
    let Some(index) = inner.members.iter().rposition(|(member, _)| member == name) else {
        return Ok(None);
    };
    let end = inner.members[index].1.end;
    let cut = match (index.checked_sub(1), inner.members.len()) {
        (Some(before), _) => inner.members[before].1.end..end,
        (None, 1) => inner.at.start + 1..inner.at.end - 1,
        // What stands before the first name stands before the second as well.
        (None, _) => inner.at.start + 1..end + after_comma(&text[end..]),
    };
    Ok(Some(spliced(text, cut, "")))
}

fn root(text: &str) -> Result<Object, String> {
    // The whole is checked: an object may be followed by what is no JSON.
    serde_json::from_str::<&RawValue>(text)
        .map_err(|e| format!("it is no plain JSON, without comments: {e}"))?;
    let start = text.len() - text.trim_start().len();
    Object::at(text, start..text.trim_end().len()).ok_or_else(|| "it is no object".to_owned())
}

/// The section, with the name it has in messages.
fn inner<'a>(text: &str, section: &'a str) -> Result<Option<(Object, &'a str)>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let Some(at) = root(text)?.find(section)? else { return Ok(None) };
    let object = Object::at(text, at).ok_or_else(|| format!("{section:?} is no object"))?;
    Ok(Some((object, section)))
}

/// How far it is to the end of the comma that comes next.
pub(super) fn after_comma(rest: &str) -> usize {
    rest.find(',').map_or(0, |at| at + 1)
}

pub(super) fn spliced(text: &str, at: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..at.start], &text[at.end..])
}

impl Object {
    /// The object that stands there; none if it is something else.
    fn at(text: &str, at: Range<usize>) -> Option<Self> {
        let Members(members) = serde_json::from_str(&text[at.clone()]).ok()?;
        let place = |raw: &RawValue| {
            let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + raw.get().len()
        };
        let members = members.into_iter().map(|(name, raw)| (name, place(raw))).collect();
        Some(Self { at, members })
    }

    /// Of two members of one name some programs take the first and some the last.
    fn find(&self, name: &str) -> Result<Option<Range<usize>>, String> {
        let mut found = self.members.iter().filter(|(member, _)| member == name);
        let at = found.next().map(|(_, at)| at.clone());
        match found.next() {
            None => Ok(at),
            Some(_) => Err(format!("it has {name:?} twice in one object")),
        }
    }

    /// What stands between the brace and the first name.
    fn lead<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.members.first()?;
        let rest = &text[self.at.start + 1..];
        Some(&rest[..rest.len() - rest.trim_start().len()])
    }

    /// The text with this member, which is `depth` levels inside.
    fn put(
        &self,
        text: &str,
        style: &Style,
        depth: usize,
        name: &str,
        value: &Value,
    ) -> Result<String, String> {
        let usual = style.lead(depth);
        let lead = self.lead(text).unwrap_or(&usual);
        let indent = lead.rsplit('\n').next().filter(|_| lead.contains('\n'));
        let value = style.written(value, indent);
        if let Some(at) = self.find(name)? {
            return Ok(spliced(text, at, &value));
        }
        let name = Value::from(name);
        Ok(match self.members.last() {
            Some((_, last)) => {
                spliced(text, last.end..last.end, &format!(",{lead}{name}: {value}"))
            }
            None => {
                let end = style.lead(depth - 1);
                spliced(text, self.at.clone(), &format!("{{{lead}{name}: {value}{end}}}"))
            }
        })
    }
}

impl Style {
    /// That of a text which is one object.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        Ok(Self::within(text, &root(text)?))
    }

    fn within(text: &str, root: &Object) -> Self {
        let lead = root.lead(text);
        let indent = match lead {
            None => Some(INDENT.to_owned()),
            Some(lead) => lead.rsplit_once('\n').map(|(_, indent)| indent.to_owned()),
        };
        Self { indent, newline: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// What stands before a name so many levels inside.
    pub(super) fn lead(&self, depth: usize) -> String {
        match &self.indent {
            Some(indent) => format!("{}{}", self.newline, indent.repeat(depth)),
            None => String::new(),
        }
    }

    /// A value whose first line begins at this indentation; on one line where there is none.
    pub(super) fn written(&self, value: &Value, at: Option<&str>) -> String {
        let (Some(indent), Some(at)) = (&self.indent, at) else { return value.to_string() };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(indent.as_bytes());
        // A value always serializes, as UTF-8.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{at}", self.newline))
    }
}

/// The members of an object in the order of the text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(before: &str, after: &str) {
        let entry = json!({"url": "http://h"});
        let put = put(before, "mcpServers", "chorus", &entry).unwrap();
        assert_eq!(put, after);
        assert_eq!(get(&put, "mcpServers", "chorus").unwrap(), Some(entry.clone()));
        // Once more changes nothing.
        assert_eq!(super::put(&put, "mcpServers", "chorus", &entry).unwrap(), put);
        let gone = remove(&put, "mcpServers", "chorus").unwrap().unwrap();
        assert_eq!(get(&gone, "mcpServers", "chorus").unwrap(), None);
        if before.contains("chorus") || !before.contains("mcpServers") {
            return;
        }
        let as_empty = |text: &str| text.replace("{\n  }", "{}");
        assert_eq!(as_empty(&gone), as_empty(before), "and taken out again");
    }

    // covers: OPS-541
    #[test]
    fn an_entry_is_cut_into_the_text_and_every_other_byte_stays() {
        for empty in ["", "\n", "{}\n"] {
            check(
                empty,
                "{\n  \"mcpServers\": {\n    \"chorus\": {\n      \"url\": \"http://h\"\n    }\n  }\n}\n",
            );
        }
        check(
            "{\n\t\"b\": 1.0,\n\t\"a\":   [1,2]\n}",
            "{\n\t\"b\": 1.0,\n\t\"a\":   [1,2],\n\t\"mcpServers\": {\n\t\t\"chorus\": {\n\t\t\t\"url\": \
             \"http://h\"\n\t\t}\n\t}\n}",
        );
        check(
            "{\n  \"z\": {\"mcpServers\": 1},\n  \"mcpServers\": {}\n}\n",
            "{\n  \"z\": {\"mcpServers\": 1},\n  \"mcpServers\": {\n    \"chorus\": {\n      \"url\": \
             \"http://h\"\n    }\n  }\n}\n",
        );
        check(
            "{\r\n    \"mcpServers\": {\r\n        \"o\": {}\r\n    },\r\n    \"é\": \"\\u00e9\"\r\n}\r\n",
            "{\r\n    \"mcpServers\": {\r\n        \"o\": {},\r\n        \"chorus\": {\r\n            \"url\": \
             \"http://h\"\r\n        }\r\n    },\r\n    \"é\": \"\\u00e9\"\r\n}\r\n",
        );
        check(
            r#"{"mcpServers":{"o":{"a":1e2}}}"#,
            r#"{"mcpServers":{"o":{"a":1e2},"chorus": {"url":"http://h"}}}"#,
        );
        check(
            "{\n  \"mcpServers\": {\n    \"chorus\": 1,\n    \"o\": {}\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"chorus\": {\n      \"url\": \"http://h\"\n    },\n    \"o\": {}\n  }\n}",
        );
    }

    #[test]
    fn the_first_of_several_is_taken_out_with_its_comma() {
        let text = "{\n  \"mcpServers\": {\n    \"chorus\": {\"a\": \",\"},\n    \"o\": {}\n  }\n}";
        let gone = remove(text, "mcpServers", "chorus").unwrap().unwrap();
        assert_eq!(gone, "{\n  \"mcpServers\": {\n    \"o\": {}\n  }\n}");
        assert_eq!(remove(&gone, "mcpServers", "chorus").unwrap(), None);
    }

    // covers: OPS-544
    #[test]
    fn a_name_that_stands_there_twice_is_refused() {
        for twice in [
            r#"{"mcpServers": {}, "mcpServers": {"chorus": 1}}"#,
            r#"{"mcpServers": {"chorus": 1, "o": 2, "chor\u0075s": 3}}"#,
        ] {
            let why = put(twice, "mcpServers", "chorus", &json!({})).unwrap_err();
            assert!(why.contains("twice"), "{why}");
            assert!(get(twice, "mcpServers", "chorus").is_err());
            assert!(remove(twice, "mcpServers", "chorus").is_err());
        }
    }

    #[test]
    fn what_is_no_plain_json_is_refused() {
        let entry = json!({});
        for bad in ["// mine\n{}", "{\"a\": 1,}", "[]", "{} x", "{\"mcpServers\": []}", "{"] {
            assert!(put(bad, "mcpServers", "chorus", &entry).is_err(), "{bad}");
        }
    }
}
