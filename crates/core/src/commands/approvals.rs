//! Approvals: requests that wait for a person's decision, and what follows from the decision.

use std::sync::Arc;

use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::gate::disclosure::Origin;
use crate::commands::redact::Redact;
use crate::model::approval::{Approval, Arguments, Asked, DENIED, Decided, Source, Standing};
use crate::model::audit::{Action, Audit};
use crate::model::caller::{Authority, By};
use crate::model::delivery::Delivery;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Uid};
use crate::model::limits;
use crate::model::offer::Entry;
use crate::model::requests::Post;
use crate::state::workspace::Failure;

/// A person has decided. `entry` is the message that was posted as a result, if any.
#[derive(Clone, Debug)]
pub struct ApprovalDecision {
    pub approval: Arc<Approval>,
    pub entry: Option<Entry>,
}

/// An agent is about to call a tool that the operator marked sensitive.
#[derive(Clone)]
pub struct MayCall {
    pub tool: Arc<str>,
    /// Canonical JSON.
    pub arguments: Arc<str>,
}

impl Command for MayCall {
    type Output = ();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The approval it asks for is audited itself.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.arguments)
    }

    // A person is asked about exactly this text.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.may_call(self.tool, self.arguments)
    }
}

/// A person decides about a pending approval.
#[derive(Clone)]
pub struct DecideApproval {
    pub approval: Uid,
    pub approved: bool,
    pub reason: Option<Arc<str>>,
}

impl Command for DecideApproval {
    type Output = ApprovalDecision;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let decision = if self.approved { "approved" } else { "denied" };
        Audit::firm(Action::DecideApproval).subject(self.approval).name(decision)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.reason)
    }

    // Agents cannot decide about approvals.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<ApprovalDecision> {
        run.decide_approval(self.approval, self.approved, self.reason)
    }
}

impl Context<'_> {
    /// Fails with the pending, denied or expired approval of the same send. Succeeds if the send is
    /// new or approved.
    pub(crate) fn asked_before(&mut self, post: &Post) -> Result<()> {
        let Some(idempotency) = post.idempotency else { return Ok(()) };
        let me = self.by.member;
        let same_key = |a: &&Arc<Approval>| match &a.asked {
            Asked::Send { post, .. } => {
                a.member == me && post.idempotency.is_some_and(|i| i.key == idempotency.key)
            }
            Asked::Call { .. } => false,
        };
        let Some(approval) = self.directory().approvals.values().find(same_key).cloned() else {
            return Ok(());
        };
        let Asked::Send { post: held, .. } = &approval.asked else { return Ok(()) };
        if held.idempotency != post.idempotency {
            let why = "another message waits under this idempotency key";
            return Err(Refusal::new(Code::IdempotencyConflict, why).into());
        }
        match approval.standing(self.now) {
            Standing::Waiting => Err(Failure::AwaitsApproval(approval)),
            Standing::Approved => Ok(()),
            Standing::Denied => Err(denied(&approval).into()),
            Standing::Expired => Err(expired().into()),
        }
    }

    /// Holds a send for a person's decision, and returns why it is not done now. The event it
    /// answers does not become overdue meanwhile: the host withholds it.
    pub(crate) fn hold(
        &mut self,
        to: ConversationKey,
        post: Post,
        source: Option<Origin>,
        answered: Option<EventRef>,
    ) -> Result<Failure> {
        let asked = Asked::Send { to, post: Arc::new(post) };
        let approval = self.ask(asked, source)?;
        if let Some(at) = answered {
            self.put_off(at, approval.expires, Delivery::sleep);
        }
        Ok(Failure::AwaitsApproval(approval))
    }

    /// Whether the caller may call a sensitive tool with these arguments: a person has agreed to
    /// exactly this call.
    fn may_call(&mut self, tool: Arc<str>, arguments: Arc<str>) -> Result<()> {
        if !self.me()?.is_agent() {
            return Ok(());
        }
        let turn = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        let source = match turn {
            Some(at) => self.origin(at)?,
            None => None,
        };
        self.ask_once(tool, arguments, source)
    }

    /// Asks a person about a call that would disclose words from `source`, unless a person has
    /// agreed already. The turn it is made in does not become overdue meanwhile.
    pub(crate) fn ask_once(
        &mut self,
        tool: Arc<str>,
        arguments: Arc<str>,
        source: Option<Origin>,
    ) -> Result<()> {
        let me = self.by.member;
        let same = |a: &&Arc<Approval>| a.member == me && a.is_of_call(&tool, &arguments);
        // The newest one: after one has expired, the same may be asked again.
        let known = self.directory().approvals.values().rfind(same).cloned();
        if let Some(approval) = known {
            match approval.standing(self.now) {
                Standing::Waiting => return Err(Failure::AwaitsApproval(approval)),
                Standing::Approved if self.now < approval.expires => return Ok(()),
                Standing::Denied => return Err(denied(&approval).into()),
                Standing::Approved | Standing::Expired => {}
            }
        }
        let arguments = Arguments::Whole(arguments);
        let approval = self.ask(Asked::Call { tool, arguments }, source)?;
        let turn = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        if let Some(at) = turn {
            self.put_off(at, approval.expires, Delivery::sleep);
        }
        Err(Failure::AwaitsApproval(approval))
    }

    fn ask(&mut self, asked: Asked, source: Option<Origin>) -> Result<Arc<Approval>> {
        let (now, me) = (self.now, self.by.member);
        let waiting = |a: &&Arc<Approval>| a.member == me && a.standing(now) == Standing::Waiting;
        if self.directory().approvals.values().filter(waiting).count() >= limits::APPROVALS_EACH {
            let most = limits::APPROVALS_EACH;
            let why = format!("{most} of your requests already wait for a person");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        let source = match source {
            Some(Origin { at, only }) => {
                self.load(at.conversation)?;
                let conversation = self.room(at.conversation).conversation().uid;
                let recalled = self.recall_kept(at)?;
                recalled.map(|r| Source { at, conversation, event: r.event.uid, only })
            }
            None => None,
        };
        let approval = Arc::new(Approval {
            uid: self.drawn.uid,
            at: now,
            expires: now.plus(self.ws.approvals.expires_ms),
            member: me,
            asked,
            source,
            decided: None,
        });
        self.put_approval(approval.clone());
        Ok(approval)
    }

    /// A person decides. An approved send is made here and now, in the agent's name.
    fn decide_approval(
        &mut self,
        uid: Uid,
        approved: bool,
        reason: Option<Arc<str>>,
    ) -> Result<ApprovalDecision> {
        let me = self.me()?;
        let known = self.directory().approvals.get(&uid).cloned();
        let approval = known.ok_or_else(|| Refusal::not_found("approval"))?;
        if let Some(key) = approval.concerns() {
            self.load(key)?;
            let reads = self.may_see(self.room(key)) && approval.is_for(self.by.member);
            if !reads && !self.is_operator() {
                return Err(Refusal::not_found("approval").into());
            }
        } else if !self.is_operator() {
            return Err(Refusal::not_found("approval").into());
        }
        if me.is_agent() && approval.member != me.key {
            return Err(Refusal::not_found("approval").into());
        }
        if me.is_agent() {
            let why = "only a person can approve";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        if approval.member == me.key {
            let why = "you cannot decide about your own request";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        if reason.as_ref().is_some_and(|r| r.len() > limits::DESCRIPTION_BYTES) {
            let most = limits::DESCRIPTION_BYTES;
            return Err(Refusal::invalid(format!("a reason has at most {most} bytes")).into());
        }
        if reason.as_ref().is_some_and(|r| r.contains('\0')) {
            return Err(Refusal::invalid("a reason has no NUL character").into());
        }
        match approval.standing(self.now) {
            Standing::Waiting => {}
            Standing::Expired => {
                return Err(Refusal::new(Code::Conflict, "nobody decided in time").into());
            }
            // The same decision again, after a lost answer.
            Standing::Approved if approved => {
                return Ok(ApprovalDecision { approval, entry: None });
            }
            Standing::Denied if !approved => {
                return Ok(ApprovalDecision { approval, entry: None });
            }
            standing => {
                let why = format!("it is {} already", standing.name());
                return Err(Refusal::new(Code::Conflict, why).into());
            }
        }
        if let Some(source) = &approval.source {
            self.load(source.at.conversation)?;
        }
        let entry = match &approval.asked {
            Asked::Send { post, .. } if approved => {
                let sent = self.as_agent(approval.member, |run| {
                    if !run.sits_in(post.conversation)? {
                        let why = "who asked is no member of the conversation any more, so that this \
                            cannot be said: deny it, or add the member first";
                        return Err(Refusal::new(Code::Conflict, why).into());
                    }
                    run.send(Post::clone(post), Some(approval.source.as_ref().map(|s| s.at)))
                })?;
                Some(sent.entry)
            }
            _ => None,
        };
        let decided = Decided { by: me.key, at: self.now, approved, reason };
        let approval = Arc::new(Approval { decided: Some(decided), ..approval.emptied() });
        self.put_approval(approval.clone());
        if let Some(source) = &approval.source {
            self.awake(source.at, approval.member)?;
        }
        Ok(ApprovalDecision { approval, entry })
    }

    /// Whether the caller is a member of the conversation.
    fn sits_in(&mut self, conversation: Uid) -> Result<bool> {
        if self.directory().member(self.by.member).is_none_or(|member| member.removed) {
            return Ok(false);
        }
        match self.room_by_uid(conversation) {
            Ok(key) => Ok(self.room(key).roster().contains_key(&self.by.member)),
            Err(Failure::Refused(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    pub(crate) fn as_agent<T>(
        &mut self,
        member: MemberKey,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let agent = By { member, session: None, authority: Authority::Worker, turn: None };
        let person = std::mem::replace(&mut self.by, agent);
        let done = work(self);
        self.by = person;
        done
    }

    /// Drops pending approvals of an erased message, because they would disclose its words.
    pub(crate) fn drop_approvals_of(&mut self, source: EventRef) {
        let of = |a: &&Arc<Approval>| {
            a.source.as_ref().is_some_and(|s| s.at == source) && a.decided.is_none()
        };
        let gone: Vec<_> = self.directory().approvals.values().filter(of).cloned().collect();
        for approval in gone {
            let reason = Some("the message that it would have disclosed was erased".into());
            let by = self.by.member;
            let decided = Decided { by, at: self.now, approved: false, reason };
            let empty = Approval { decided: Some(decided), ..approval.emptied() };
            self.put_approval(Arc::new(empty));
        }
    }

    fn put_approval(&mut self, approval: Arc<Approval>) {
        let now = self.now;
        let old = self.directory().approvals.values().filter(|a| !a.is_kept(now)).map(|a| a.uid);
        for uid in old.collect::<Vec<_>>() {
            self.directory_mut().approvals.remove_mut(&uid);
            self.ws.changes.approvals.push((uid, None));
        }
        self.directory_mut().approvals.insert_mut(approval.uid, approval.clone());
        self.ws.changes.approvals.push((approval.uid, Some(approval)));
    }

    /// Wakes the delivery after the decision: it is offered again, unless the decision has answered
    /// it.
    fn awake(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        self.load(at.conversation)?;
        let room = self.room_mut(at.conversation);
        let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
        if delivery.is_some_and(Delivery::awake) {
            room.must_store(at.seq);
            self.offer(at, member)?;
        }
        self.ws.track(at);
        Ok(())
    }
}

fn denied(approval: &Approval) -> Refusal {
    let reason = approval.decided.as_ref().and_then(|d| d.reason.as_deref());
    let why = match reason {
        Some(reason) => format!("{DENIED}: {reason}"),
        None => DENIED.to_owned(),
    };
    Refusal::new(Code::Forbidden, why)
}

fn expired() -> Refusal {
    let why = "nobody approved it in time; ask again under another idempotency key";
    Refusal::new(Code::Forbidden, why)
}
