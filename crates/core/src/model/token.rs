//! Issued tokens: who may issue which to whom, and which have ended. The edge creates and checks
//! tokens; the data here reveals none of them.

use std::sync::Arc;

use crate::model::caller::{Authority, By};
use crate::model::error::{Code, Refusal};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::MemberKind;

/// The member that the first start creates, and to whom the host itself issues the operator's
/// token. It always exists.
pub const OPERATOR: &str = "operator";

/// An issued token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    pub jti: Arc<str>,
    pub member: MemberKey,
    pub authority: Authority,
    /// The session it is bound to, if it is.
    pub session: Option<Uid>,
    pub issued: Timestamp,
    pub expires: Timestamp,
    /// The key that signed it.
    pub kid: Arc<str>,
    /// It was ended before its expiry.
    pub revoked: bool,
    /// The SHA-256 of the token itself; none for tokens from versions that kept none.
    pub proof: Option<Hash>,
}

impl Issued {
    /// Whether it has expired even when clocks differ.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.plus(limits::TOKEN_SKEW_MS) <= now
    }

    /// Whether it may be forgotten.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        let kept = if self.revoked { limits::ENDED_TOKEN_MS } else { 0 };
        self.is_over(now.plus(-kept))
    }
}

/// A token to be issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub jti: String,
    pub member: MemberKey,
    pub authority: Authority,
    pub session: Option<Uid>,
    pub expires: Timestamp,
    pub kid: String,
    pub proof: Hash,
}

/// Whether `by` may issue a token with this role to a member of this kind. An agent may be an
/// orchestrator: it can issue tokens to agents for their work, but nothing more. Otherwise it could
/// act as the people it answers to.
pub fn may_issue(by: &By, kind: MemberKind, authority: Authority) -> Result<(), Refusal> {
    let refused = |why: &str| Err(Refusal::new(Code::InsufficientAuthority, why));
    match by.authority {
        Authority::Operator if authority == Authority::Operator && kind == MemberKind::Agent => {
            Err(Refusal::invalid("an operator is a person; give an agent 'orchestrator'"))
        }
        Authority::Operator => Ok(()),
        Authority::Orchestrator if kind == MemberKind::Human => {
            refused("an orchestrator gives tokens to agents only; this needs an operator's token")
        }
        Authority::Orchestrator if authority != Authority::Worker => refused(
            "an orchestrator gives agents the role 'worker' only; this needs an operator's token",
        ),
        Authority::Orchestrator => Ok(()),
        Authority::Auditor | Authority::Worker => {
            refused("this needs an operator's or orchestrator's token")
        }
    }
}

/// Whether `by` may end tokens of a member of this kind.
pub fn may_revoke(by: &By, kind: MemberKind) -> Result<(), Refusal> {
    may_issue(by, kind, Authority::Worker)
}

/// Whether `by` may set the owner and the external identities of a new member of this kind. The
/// owner manages the agent's inboxes, and identities are trusted; for people only an operator may
/// set them.
pub fn may_vouch(by: &By, kind: MemberKind) -> Result<(), Refusal> {
    match (by.authority, kind) {
        (Authority::Operator, _) | (Authority::Orchestrator, MemberKind::Agent) => Ok(()),
        _ => {
            let why = "only an operator may set a person's owner and external identities";
            Err(Refusal::new(Code::InsufficientAuthority, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(authority: Authority) -> By {
        By { authority, ..By::host() }
    }

    // covers: OPS-403
    #[test]
    fn orchestrators_give_agents_the_role_worker_and_nothing_else() {
        use Authority::{Auditor, Operator, Orchestrator, Worker};
        use MemberKind::{Agent, Human};
        for (giver, kind, role, may) in [
            (Operator, Human, Operator, true),
            (Operator, Agent, Operator, false),
            (Operator, Agent, Orchestrator, true),
            (Operator, Human, Auditor, true),
            (Orchestrator, Agent, Worker, true),
            (Orchestrator, Agent, Auditor, false),
            (Orchestrator, Agent, Orchestrator, false),
            (Orchestrator, Human, Worker, false),
            (Orchestrator, Human, Auditor, false),
            (Worker, Agent, Worker, false),
            (Auditor, Agent, Worker, false),
        ] {
            assert_eq!(
                may_issue(&by(giver), kind, role).is_ok(),
                may,
                "{giver:?} {kind:?} {role:?}"
            );
        }
    }
}
