//! Reads single fields of canonical JSON, which the core keeps as text.

/// A string or number of the outermost object of canonical JSON, exactly as written: equal strings
/// have one form.
pub fn text_field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let value = field(json, name)?;
    match value.bytes().next()? {
        b'-' | b'0'..=b'9' => value.get(..value.len() - past(value)?.len()),
        _ => quoted(value).map(|(text, _)| text),
    }
}

/// Whether the outermost object of canonical JSON has a text under this name that is not empty.
pub fn has_text(json: &str, name: &str) -> bool {
    let text = field(json, name).and_then(quoted);
    text.is_some_and(|(text, _)| !text.is_empty())
}

/// The text from the value of a field on.
fn field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = json.strip_prefix('{')?;
    loop {
        let (key, after) = quoted(rest)?;
        let value = after.strip_prefix(':')?;
        if key == name {
            return Some(value);
        }
        rest = past(value)?.strip_prefix(',')?;
    }
}

/// The quoted string at the beginning, and the text after it.
fn quoted(json: &str) -> Option<(&str, &str)> {
    let inner = json.strip_prefix('"')?;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((inner.get(..at)?, inner.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// The text after the value at the beginning.
fn past(json: &str) -> Option<&str> {
    let (mut rest, mut depth) = (json, 0_usize);
    loop {
        match rest.bytes().next()? {
            b'"' => rest = quoted(rest)?.1,
            b',' | b'}' | b']' if depth == 0 => return Some(rest),
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                // Outside of quotes there is only ASCII.
                rest = rest.get(1..)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_among_others_and_nowhere_deeper() {
        let json = r#"{"a":{"event_type":"no","x":["}",{}]},"b":[1,2],"event_type":"fix_pushed","n":null,"q":"a\"b,","z":-1}"#;
        for (name, expect) in [
            ("event_type", Some("fix_pushed")),
            ("q", Some("a\\\"b,")),
            ("z", Some("-1")),
            ("a", None),
            ("n", None),
            ("x", None),
        ] {
            assert_eq!(text_field(json, name), expect, "{name}");
        }
        for bad in ["", "{", "{}", "[]", r#"{"a""#, r#"{"a":"#, r#"{"a":1"#, r#"{"é":"ü","#] {
            assert_eq!(text_field(bad, "event_type"), None, "{bad}");
        }
    }
}
