//! Who is told of an event, as each of them reads it: the others, as far as they are named, and how
//! many more there are. So agents that know do not answer twice.
//!
//! It is made once for an event. A list of everybody in every frame would make a message cost the
//! square of its audience.

use std::ops::Range;

use chorus_core::model::ids::MemberKey;
use chorus_core::model::limits::AUDIENCE_NAMED;

/// Those whom an event is told.
#[derive(Debug, Default)]
pub struct Told {
    /// All of them, sorted.
    members: Vec<MemberKey>,
    /// The first of them, one more than are named to anybody.
    first: Vec<First>,
    /// Their ids as JSON, with commas between.
    json: String,
}

#[derive(Debug)]
struct First {
    member: MemberKey,
    id: Box<str>,
    /// Where it is in the JSON.
    at: Range<usize>,
}

impl Told {
    /// Of those told, in the order in which they are named.
    pub fn new<'a>(told: impl IntoIterator<Item = (MemberKey, &'a str)>) -> Self {
        let mut this = Self::default();
        for (member, id) in told {
            this.members.push(member);
            if this.first.len() <= AUDIENCE_NAMED {
                if !this.json.is_empty() {
                    this.json.push(',');
                }
                let start = this.json.len();
                // A text is always JSON.
                this.json.push_str(&serde_json::to_string(id).unwrap_or_default());
                this.first.push(First { member, id: id.into(), at: start..this.json.len() });
            }
        }
        this.members.sort_unstable();
        this
    }

    /// The ids that a member is shown, and how many more there are.
    pub fn others(&self, of: MemberKey) -> (Vec<&str>, usize) {
        let others = self.count_others(of);
        let named = self.first.iter().filter(|first| first.member != of).take(AUDIENCE_NAMED);
        let ids: Vec<&str> = named.map(|first| &*first.id).collect();
        let more = others - ids.len();
        (ids, more)
    }

    /// The same as fields of an object, each with a comma before it.
    pub(super) fn write_others(&self, out: &mut Vec<u8>, of: MemberKey) {
        let others = self.count_others(of);
        let shown = others.min(AUDIENCE_NAMED);
        if shown == 0 {
            return;
        }
        let own = self.first.iter().position(|first| first.member == of);
        let own = own.filter(|own| *own <= shown);
        let last = shown - usize::from(own.is_none());
        let (before, after) = match own {
            None => (0..self.first[last].at.end, 0..0),
            Some(0) => (0..0, self.first[1].at.start..self.first[last].at.end),
            Some(own) if own == last => (0..self.first[last - 1].at.end, 0..0),
            // With the comma.
            Some(own) => {
                (0..self.first[own].at.start, self.first[own + 1].at.start..self.first[last].at.end)
            }
        };
        out.extend_from_slice(br#","audience":["#);
        out.extend_from_slice(&self.json.as_bytes()[before]);
        out.extend_from_slice(&self.json.as_bytes()[after]);
        out.push(b']');
        if others > shown {
            out.extend_from_slice(format!(r#","audienceMore":{}"#, others - shown).as_bytes());
        }
    }

    fn count_others(&self, of: MemberKey) -> usize {
        self.members.len() - usize::from(self.members.binary_search(&of).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::{AUDIENCE_NAMED, MemberKey, Told};

    #[test]
    fn what_is_written_is_what_is_read() {
        for count in [0, 1, 2, 3, AUDIENCE_NAMED, AUDIENCE_NAMED + 1, AUDIENCE_NAMED + 2, 70] {
            let ids: Vec<String> = (0..count).map(|n| format!("agent \"{n}\"")).collect();
            // In another order than that of the keys.
            let key = |n: usize| MemberKey(1_000 - n as u32);
            let told = Told::new(ids.iter().enumerate().map(|(n, id)| (key(n), id.as_str())));
            for of in 0..count + 2 {
                let others: Vec<&str> =
                    (0..count).filter(|n| *n != of).map(|n| ids[n].as_str()).collect();
                let named = &others[..others.len().min(AUDIENCE_NAMED)];
                let more = others.len() - named.len();
                assert_eq!(told.others(key(of)), (named.to_vec(), more), "{of} of {count}");

                let mut out = br#"{"begin":0"#.to_vec();
                told.write_others(&mut out, key(of));
                out.push(b'}');
                let mut wanted = serde_json::json!({"begin": 0});
                if !named.is_empty() {
                    wanted["audience"] = named.into();
                }
                if more > 0 {
                    wanted["audienceMore"] = more.into();
                }
                let read: serde_json::Value = serde_json::from_slice(&out).unwrap_or_default();
                assert_eq!(read, wanted, "{of} of {count}");
            }
        }
    }
}
