//! Digests of channels that the member follows, kept to be shown with the next turn (C2A "Injection mode `digest`").

use std::collections::VecDeque;

use chorus_core::model::conversation::Visibility;
use chorus_wire::attention::notifications::Digest;

/// Digests kept; the oldest gives way, and the host still has it.
const KEPT: usize = 16;

#[derive(Default)]
pub(super) struct HeldDigests(VecDeque<Digest>);

impl HeldDigests {
    /// Keeps a digest, once.
    pub(super) fn push(&mut self, digest: Digest) {
        self.0.retain(|held| held.digest_id != digest.digest_id);
        self.0.push_back(digest);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Takes what a turn in this conversation may be shown: what is said in private is for its own conversation only,
    /// since a reply elsewhere would carry it out.
    pub(super) fn take(&mut self, conversation: &str) -> Vec<Digest> {
        let suits = |digest: &Digest| {
            digest.visibility == Some(Visibility::Public.into())
                || digest.conversation == conversation
        };
        let (taken, kept): (Vec<_>, Vec<_>) = self.0.drain(..).partition(suits);
        self.0.extend(kept);
        taken
    }
}

#[cfg(test)]
mod tests {
    use chorus_core::model::attention::Policy;
    use chorus_core::model::ids::Timestamp;
    use chorus_wire::attention::notifications::DigestAttention;

    use super::*;

    fn digest(id: usize, conversation: &str, visibility: Visibility) -> Digest {
        Digest {
            digest_id: id.to_string(),
            conversation: conversation.to_owned(),
            title: String::new(),
            visibility: Some(visibility.into()),
            after_sequence: 0,
            through_sequence: 1,
            created_at: Timestamp(0).into(),
            attention: DigestAttention {
                policy: Policy::MustNotRespond.into(),
                reason: "digest".to_owned(),
            },
            messages: 1,
            calls: Vec::new(),
            text: String::new(),
        }
    }

    // covers: ATT-349
    #[test]
    fn the_next_turn_is_shown_what_is_public_and_what_is_of_its_own_conversation() {
        let mut held = HeldDigests::default();
        held.push(digest(1, "ch_1", Visibility::Private));
        held.push(digest(2, "ch_2", Visibility::Private));
        held.push(digest(3, "ch_3", Visibility::Public));
        held.push(digest(3, "ch_3", Visibility::Public));
        let ids = |digests: Vec<Digest>| -> Vec<String> {
            digests.into_iter().map(|digest| digest.digest_id).collect()
        };
        assert_eq!(ids(held.take("ch_1")), ["1", "3"]);
        assert_eq!(ids(held.take("ch_1")), [""; 0]);
        assert_eq!(ids(held.take("ch_2")), ["2"]);
        for n in 0..40 {
            held.push(digest(n, "ch_1", Visibility::Private));
        }
        assert_eq!(held.take("ch_1").len(), KEPT, "they are bounded");
    }
}
