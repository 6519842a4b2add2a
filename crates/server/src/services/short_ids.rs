//! Short ids, as a terminal shows them: `evt_…f622a32`. They stand for what the caller may see, and nothing else.

use std::sync::Arc;

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_store::IdKind;
use chorus_wire::rest::ids::Ids;

use super::messages::MessageService;
use super::threads::ThreadService;
use crate::auth::Caller;

/// Fewer digits would stand for too much.
const FEWEST: usize = 4;

/// What short ids stand for.
pub(crate) struct ShortIds {
    pub(super) messages: Arc<MessageService>,
    pub(super) threads: Arc<ThreadService>,
}

impl ShortIds {
    /// `GET /v1/ids/{short}`.
    pub(crate) async fn whole(&self, caller: &Caller, short: &str) -> Result<Ids, Refusal> {
        let (of, prefix, digits) = read(short)?;
        let reads = &self.messages.reads;
        let found: Vec<Uid> = reads.read(move |readers| readers.short_ids(of, &digits)).await?;
        let mut ids = Vec::new();
        for uid in found {
            let id = format!("{prefix}{uid:?}");
            let seen = match of {
                IdKind::Conversation => reads.place(caller, uid).await.is_ok(),
                IdKind::Event => self.messages.message(caller, &id).await.is_ok(),
                IdKind::Thread => self.threads.thread(caller, &id).await.is_ok(),
            };
            ids.extend(seen.then_some(id));
        }
        Ok(Ids { ids })
    }
}

/// What is looked for, the prefix of its ids, and the digits.
fn read(short: &str) -> Result<(IdKind, &'static str, String), Refusal> {
    let kinds: [(IdKind, &str); 4] = [
        (IdKind::Conversation, Prefix::Conversation.as_str()),
        (IdKind::Event, Prefix::Event.as_str()),
        (IdKind::Event, "msg_"),
        (IdKind::Thread, Prefix::Thread.as_str()),
    ];
    let read = kinds.into_iter().find_map(|(of, prefix)| {
        let digits = short.strip_prefix(prefix)?.trim_start_matches(['…', '.']);
        let plain = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let fits = plain && (FEWEST..=32).contains(&digits.len());
        fits.then(|| (of, prefix, digits.to_owned()))
    });
    read.ok_or_else(|| {
        Refusal::invalid(
            "a short id is ch_, evt_, msg_ or th_, and 4 or more of its first or last digits",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_a_prefix_and_digits_from_either_end() {
        for short in ["evt_…f622a32", "evt_...f622a32", "evt_f622a32"] {
            assert_eq!(read(short), Ok((IdKind::Event, "evt_", "f622a32".to_owned())), "{short}");
        }
        for bad in ["", "evt_", "evt_f62", "f622a32", "apr_f622a32", "evt_F622A32", "evt_f622…a32"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&format!("th_{:033}", 0)).is_err());
    }
}
