//! Endpoints: the connection strings of agents outside this host (webhook spec section 1).

use std::fmt;
use std::sync::Arc;

use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;

/// The runtime name of the session with which the host itself serves an endpoint.
pub const RUNTIME: &str = "webhook";

/// A secret text: knowing it grants access. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Arc<str>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// An agent's endpoint; a member has at most one. Its secrets are sealed by the edge, which alone
/// uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub member: MemberKey,
    /// The connection string.
    pub url: Secret,
    /// The secret that signs its deliveries, by the Standard Webhooks scheme.
    pub signing: Option<Secret>,
    pub state: State,
    /// When it was added or got another string. Callbacks issued before are void.
    pub epoch: Timestamp,
    pub added_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// A person has paused it; deliveries wait meanwhile.
    Paused,
    /// It answered 410 and accepts nothing more.
    Gone,
}

impl State {
    pub const ALL: [Self; 3] = [Self::Active, Self::Paused, Self::Gone];

    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Gone => "gone",
        }
    }
}

/// Operations on an endpoint.
#[derive(Clone, Debug)]
pub enum Act {
    Add {
        url: Secret,
        signing: Option<Secret>,
    },
    /// Sets another string, and another signing secret if one is given. The endpoint becomes
    /// active.
    Rotate {
        url: Secret,
        signing: Option<Secret>,
    },
    Pause,
    Resume,
    Remove,
    /// It answered 410 to a post to its string of this epoch.
    Gone {
        epoch: Timestamp,
    },
}

/// The endpoint after an operation; none when it is removed.
pub fn act(
    before: Option<&Endpoint>,
    member: MemberKey,
    act: Act,
    now: Timestamp,
) -> Result<Option<Endpoint>, Refusal> {
    let present = || before.ok_or_else(|| Refusal::not_found("endpoint"));
    Ok(Some(match act {
        Act::Add { .. } if before.is_some() => {
            return Err(Refusal::new(
                Code::Conflict,
                "the agent has a connection string already; rotate it",
            ));
        }
        Act::Add { url, signing } => {
            check(&url)?;
            Endpoint { member, url, signing, state: State::Active, epoch: now, added_at: now }
        }
        Act::Rotate { url, signing } => {
            check(&url)?;
            let old = present()?;
            Endpoint {
                url,
                signing: signing.or_else(|| old.signing.clone()),
                state: State::Active,
                epoch: now.max(old.epoch.plus(1)),
                ..old.clone()
            }
        }
        Act::Pause | Act::Resume => {
            let state = if matches!(act, Act::Pause) { State::Paused } else { State::Active };
            Endpoint { state, ..present()?.clone() }
        }
        Act::Gone { epoch } => {
            let old = present()?;
            // A newer string is not affected.
            let state = if old.epoch == epoch { State::Gone } else { old.state };
            Endpoint { state, ..old.clone() }
        }
        Act::Remove => {
            present()?;
            return Ok(None);
        }
    }))
}

/// The edge checks that the address may be reached.
fn check(url: &Secret) -> Result<(), Refusal> {
    if url.0.is_empty() || url.0.len() > limits::CONNECTION_STRING_BYTES {
        let most = limits::CONNECTION_STRING_BYTES;
        return Err(Refusal::invalid(format!(
            "a connection string is a URL of at most {most} bytes"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret(text.into())
    }

    fn added() -> Endpoint {
        let new = Act::Add { url: secret("https://a.example/inbox/sk_1"), signing: None };
        act(None, MemberKey(1), new, Timestamp(5)).unwrap().unwrap()
    }

    #[test]
    fn what_is_secret_is_not_shown() {
        assert!(!format!("{:?}", added()).contains("sk_1"));
    }

    // covers: WHK-7
    #[test]
    fn another_string_voids_what_was_given_out_with_the_old_one() {
        let old = added();
        let other = Act::Rotate { url: secret("https://a.example/inbox/sk_2"), signing: None };
        let new = act(Some(&old), old.member, other, Timestamp(5)).unwrap().unwrap();
        assert!(new.epoch > old.epoch, "within the same millisecond too");
        let gone = Act::Gone { epoch: old.epoch };
        let same = act(Some(&new), old.member, gone, Timestamp(6)).unwrap().unwrap();
        assert_eq!(same.state, State::Active, "the old string's 410 says nothing of the new one");
        let gone = Act::Gone { epoch: new.epoch };
        let gone = act(Some(&new), old.member, gone, Timestamp(6)).unwrap().unwrap();
        assert_eq!(gone.state, State::Gone);
    }

    #[test]
    fn there_is_one_of_a_member_and_none_is_made_of_nothing() {
        let old = added();
        let again = Act::Add { url: old.url.clone(), signing: None };
        let refused = act(Some(&old), old.member, again, Timestamp(6)).unwrap_err();
        assert_eq!(refused.code, Code::Conflict);
        for act_on_none in [Act::Pause, Act::Resume, Act::Remove] {
            let refused = act(None, old.member, act_on_none, Timestamp(6)).unwrap_err();
            assert_eq!(refused.code, Code::NotFound);
        }
        let long = Act::Add { url: secret(&"x".repeat(5_000)), signing: None };
        assert!(act(None, old.member, long, Timestamp(6)).is_err());
    }
}
