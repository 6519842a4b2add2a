//! Who is told of an event, as each of them reads it: the others, as far as they are named, and how
//! many more there are. So agents that know do not answer twice.
//!
//! It is made once for an event. A list of everybody in every frame would make a message cost the
//! square of its audience.

use chorus_core::model::ids::MemberKey;
use chorus_core::model::limits::AUDIENCE_NAMED;

/// Those whom an event is told.
#[derive(Debug, Default)]
pub struct Told {
    /// All of them, sorted.
    members: Vec<MemberKey>,
    /// The first of them, one more than are named to anybody.
    first: Vec<Recipient>,
}

#[derive(Debug)]
struct Recipient {
    member: MemberKey,
    id: Box<str>,
    json: String,
}

impl Told {
    /// Of those told, in the order in which they are named.
    pub fn new<'a>(told: impl IntoIterator<Item = (MemberKey, &'a str)>) -> Self {
        let mut this = Self::default();
        for (member, id) in told {
            this.members.push(member);
            if this.first.len() <= AUDIENCE_NAMED {
                // A text is always JSON.
                let json = serde_json::to_string(id).unwrap_or_default();
                this.first.push(Recipient { member, id: id.into(), json });
            }
        }
        this.members.sort_unstable();
        this
    }

    /// The ids that a member is shown, and how many more there are.
    pub fn others(&self, of: MemberKey) -> (Vec<&str>, usize) {
        let ids: Vec<&str> = self.named(of).map(|recipient| &*recipient.id).collect();
        let more = self.count_others(of) - ids.len();
        (ids, more)
    }

    /// The same as fields of an object, each with a comma before it.
    pub(super) fn write_others(&self, out: &mut Vec<u8>, of: MemberKey) {
        let mut shown = 0;
        for recipient in self.named(of) {
            out.extend_from_slice(if shown == 0 { br#","audience":["# } else { b"," });
            out.extend_from_slice(recipient.json.as_bytes());
            shown += 1;
        }
        if shown > 0 {
            out.push(b']');
        }
        let more = self.count_others(of) - shown;
        if more > 0 {
            out.extend_from_slice(format!(r#","audienceMore":{more}"#).as_bytes());
        }
    }

    fn named(&self, to: MemberKey) -> impl Iterator<Item = &Recipient> {
        self.first.iter().filter(move |recipient| recipient.member != to).take(AUDIENCE_NAMED)
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
