//! Items of a list in a JSON settings file, added and removed. As with [`json_entry`], every other byte stays as it is.

use std::ops::Range;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json_entry::{self, Style, after_comma, spliced};

/// How many levels inside the items of a section's list stand.
const DEPTH: usize = 3;

/// A list of the text: where it stands, and its items in order.
struct List {
    at: Range<usize>,
    items: Vec<Range<usize>>,
}

/// The text with this item at the end of the list `section.name`; both are made if they are not there.
pub(super) fn append(
    text: &str,
    section: &str,
    name: &str,
    item: &Value,
) -> Result<String, String> {
    let Some(at) = json_entry::place(text, section, name)? else {
        return json_entry::put(text, section, name, &json!([item]));
    };
    let list = List::at(text, at).ok_or_else(|| format!("{section}.{name} is no list"))?;
    let style = Style::of(text)?;
    let usual = style.lead(DEPTH);
    let lead = list.lead(text).unwrap_or(&usual);
    let item = style.written(item, lead.rsplit('\n').next().filter(|_| lead.contains('\n')));
    Ok(match list.items.last() {
        Some(last) => spliced(text, last.end..last.end, &format!(",{lead}{item}")),
        None => spliced(text, list.at, &format!("[{lead}{item}{}]", style.lead(DEPTH - 1))),
    })
}

/// The text without the items of the list that are meant; none if there are none. A list that is left empty goes too.
pub(super) fn remove(
    text: &str,
    section: &str,
    name: &str,
    is_meant: impl Fn(&Value) -> bool,
) -> Result<Option<String>, String> {
    let (mut text, mut found) = (text.to_owned(), false);
    while let Some(at) = json_entry::place(&text, section, name)? {
        let Some(list) = List::at(&text, at) else { break };
        let meant = |at: &&Range<usize>| {
            serde_json::from_str(&text[(*at).clone()]).is_ok_and(|item| is_meant(&item))
        };
        let Some(index) = list.items.iter().position(|at| meant(&at)) else { break };
        found = true;
        let end = list.items[index].end;
        text = match (index.checked_sub(1), list.items.len()) {
            (Some(before), _) => spliced(&text, list.items[before].end..end, ""),
            (None, 1) => match json_entry::remove(&text, section, name)? {
                Some(text) => text,
                None => break,
            },
            (None, _) => spliced(&text, list.at.start + 1..end + after_comma(&text[end..]), ""),
        };
    }
    Ok(found.then_some(text))
}

impl List {
    /// The list that stands there; none if it is something else.
    fn at(text: &str, at: Range<usize>) -> Option<Self> {
        let raw: Vec<&RawValue> = serde_json::from_str(&text[at.clone()]).ok()?;
        let place = |raw: &&RawValue| {
            let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + raw.get().len()
        };
        let items = raw.iter().map(place).collect();
        Some(Self { at, items })
    }

    /// What stands between the bracket and the first item.
    fn lead<'a>(&self, text: &'a str) -> Option<&'a str> {
        let first = self.items.first()?;
        Some(&text[self.at.start + 1..first.start])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) {
        let item = json!({"ours": 1});
        let put = append(before, "hooks", "Stop", &item).unwrap();
        assert_eq!(put, after);
        let ours = |item: &Value| item["ours"] == 1;
        let gone = remove(&put, "hooks", "Stop", ours).unwrap().unwrap();
        assert_eq!(remove(&gone, "hooks", "Stop", ours).unwrap(), None);
        if before.contains("other") {
            assert_eq!(gone, before);
        }
    }

    // covers: OPS-541
    #[test]
    fn an_item_is_cut_into_the_list_and_every_other_byte_stays() {
        let own = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"ours\": 1\n      }\n    ]\n  }\n}\n";
        check("", own);
        check("{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", own);
        check(
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"other\":   1}\n    ]\n  }\n}\n",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"other\":   1},\n      {\n        \"ours\": 1\n      }\n    ]\n  }\n}\n",
        );
        check(
            r#"{"hooks":{"Stop":[{"other":1}],"z":1e2}}"#,
            r#"{"hooks":{"Stop":[{"other":1},{"ours":1}],"z":1e2}}"#,
        );
    }

    #[test]
    fn of_several_items_only_those_that_are_meant_go() {
        let text = r#"{"hooks": {"Stop": [ 1, {"a": 2}, 1, 3 ]}}"#;
        let gone = remove(text, "hooks", "Stop", |item| *item == 1).unwrap().unwrap();
        assert_eq!(gone, r#"{"hooks": {"Stop": [ {"a": 2}, 3 ]}}"#);
        let all = remove(&gone, "hooks", "Stop", |_| true).unwrap().unwrap();
        assert_eq!(all, r#"{"hooks": {}}"#);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert!(append(r#"{"hooks": {"Stop": {}}}"#, "hooks", "Stop", &json!(1)).is_err());
        assert!(append(r#"{"hooks": []}"#, "hooks", "Stop", &json!(1)).is_err());
    }
}
