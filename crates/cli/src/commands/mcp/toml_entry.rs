//! One entry of Codex's `config.toml`: read, put and removed. Comments and whatever else is there stay as they are.

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// The tables of the servers.
const SECTION: &str = "mcp_servers";

/// A file that would not be written again as it is, such as one with lines that end as on Windows, is not touched.
fn read(text: &str) -> Result<DocumentMut, String> {
    let read: Result<DocumentMut, _> = text.parse();
    let document = read.map_err(|e| {
        let line =
            e.span().and_then(|at| text.get(..at.start)).map_or(0, |up| up.matches('\n').count());
        format!("it is no TOML, line {}: {}", line + 1, e.message().trim())
    })?;
    match document.to_string().trim_end() == text.trim_end() {
        true => Ok(document),
        false => Err("it cannot be written again as it is".to_owned()),
    }
}

/// The address and the `Authorization` of an entry.
pub(super) fn get(text: &str, name: &str) -> Result<Option<(String, String)>, String> {
    let document = read(text)?;
    let entry = document.get(SECTION).and_then(|servers| servers.get(name));
    let Some(entry) = entry else { return Ok(None) };
    let word = |item: Option<&Item>| item.and_then(Item::as_str).unwrap_or_default().to_owned();
    let bearer = entry.get("http_headers").and_then(|headers| headers.get("Authorization"));
    Ok(Some((word(entry.get("url")), word(bearer))))
}

/// The text with the entry.
pub(super) fn put(text: &str, name: &str, url: &str, bearer: &str) -> Result<String, String> {
    let mut document = read(text)?;
    let servers = document.entry(SECTION).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let is_inline = servers.is_inline_table();
    let servers = servers.as_table_like_mut().ok_or_else(|| format!("{SECTION:?} is no table"))?;
    let entry = match is_inline {
        true => Item::Value(Value::InlineTable(InlineTable::new())),
        false => Item::Table(Table::new()),
    };
    let entry = servers.entry(name).or_insert(entry);
    let entry = entry.as_table_like_mut().ok_or_else(|| format!("{name:?} is no table"))?;
    fill(entry, url, bearer);
    let text = document.to_string();
    match get(&text, name)?.is_some_and(|(put, _)| put == url) {
        true => Ok(text),
        false => Err(format!("there is no place for a table in {SECTION:?}")),
    }
}

fn fill(entry: &mut dyn TableLike, url: &str, bearer: &str) {
    entry.clear();
    let headers: InlineTable = [("Authorization", bearer)].into_iter().collect();
    entry.insert("url", toml_edit::value(url));
    entry.insert("http_headers", toml_edit::value(headers));
}

/// The text without the entry; none if it has none.
pub(super) fn remove(text: &str, name: &str) -> Result<Option<String>, String> {
    let mut document = read(text)?;
    let servers = document.get_mut(SECTION).and_then(Item::as_table_like_mut);
    let gone = servers.and_then(|servers| servers.remove(name));
    Ok(gone.map(|_| document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "[mcp_servers.chorus]\nurl = \"http://h\"\nhttp_headers = { Authorization = \"Bearer t\" }\n";

    fn check(before: &str, after: &str) {
        let put = put(before, "chorus", "http://h", "Bearer t").unwrap();
        assert_eq!(put, after);
        let found = get(&put, "chorus").unwrap().unwrap();
        assert_eq!(found, ("http://h".to_owned(), "Bearer t".to_owned()));
        assert_eq!(super::put(&put, "chorus", "http://h", "Bearer t").unwrap(), put);
        let gone = remove(&put, "chorus").unwrap().unwrap();
        assert_eq!(get(&gone, "chorus").unwrap(), None);
        if !before.contains("chorus") {
            assert_eq!(gone, before);
        }
    }

    // covers: OPS-541
    #[test]
    fn an_entry_is_put_among_others_and_every_other_byte_stays() {
        check("", ENTRY);
        let mine = "# mine\nmodel   = 'x' # why\n\n[profiles.a]\nb = [\n  1,\n]\n";
        check(mine, &format!("{mine}\n{ENTRY}"));
        let others = "[mcp_servers.o]\ncommand = \"o\"\n";
        check(others, &format!("{others}\n{ENTRY}"));
        let before = format!("{others}\n# after\n[tui]\nx = 1\n");
        check(&before, &format!("{others}\n{ENTRY}\n# after\n[tui]\nx = 1\n"));
    }

    #[test]
    fn an_older_entry_is_replaced_whole() {
        let old = "[mcp_servers.chorus]\ncommand = \"chorus\"\nbearer_token_env_var = \"CHORUS_TOKEN\"\n\n[a]\n";
        check(old, &format!("{ENTRY}\n[a]\n"));
    }

    #[test]
    fn what_is_no_toml_is_refused() {
        let windows = "# mine\r\na = 1\r\n\r\n[b]\r\n";
        for bad in ["a = ", "mcp_servers = 1", "[mcp_servers]\nchorus = 1\n", windows] {
            assert!(put(bad, "chorus", "u", "b").is_err(), "{bad}");
        }
    }
}
