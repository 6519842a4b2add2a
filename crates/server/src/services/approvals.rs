//! What waits for a person: asked for, shown to those who may decide, decided (design section 5, "Approvals").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::approvals::{self, ApprovalDecision, DecideApproval};
use chorus_core::model::approval::{Approval, Asked, Standing};
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_core::model::limits;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::tools::SendMessage;
use chorus_wire::rest::approvals::{self as rest, Approvals, Decision, ListApprovals};
use chorus_wire::tool::{Arguments, Tool};
use chorus_wire::{canonical, jsonrpc};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::alike::{Call, Like, like};
use super::clock::HostClock;
use super::commands::Commands;
use super::identity::Identity;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view;

/// What agents may do only once a person has agreed.
pub(crate) struct ApprovalService {
    pub(super) commands: Arc<Commands>,
    pub(super) identity: Arc<Identity>,
    pub(super) reads: Arc<Reads>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) sensitive: Arc<[&'static Tool]>,
}

impl ApprovalService {
    /// Refuses an agent's call of a tool that the operator marked sensitive, or that does what one of the `others` does
    /// that is, until a person has agreed to just this call.
    pub(crate) async fn may_call(
        &self,
        caller: &Caller,
        tool: &'static Tool,
        others: &[Like],
        arguments: Option<&RawValue>,
    ) -> Result<(), Refusal> {
        let own = [like(tool, Some)];
        if !self.is_sensitive(&own) && !self.is_sensitive(others) {
            return Ok(());
        }
        let asked: Map<String, Value> = jsonrpc::params(arguments)
            .map_err(|why| Refusal::invalid(format!("the arguments: {why}")))?;
        let likes: &[Like] = if self.is_sensitive(&own) { &own } else { others };
        self.may_do(caller, likes, asked).await
    }

    /// Whether one of them waits for a person. A send is not asked for here: it is kept whole, and made when it is
    /// approved.
    pub(crate) fn is_sensitive(&self, likes: &[Like]) -> bool {
        likes.iter().any(|like| self.sensitive.contains(&like.tool) && !like.tool.sends)
    }

    /// The same for what does what these tools do: it is asked for as the first of them that is sensitive.
    pub(crate) async fn may_do(
        &self,
        caller: &Caller,
        likes: &[Like],
        mut asked: Map<String, Value>,
    ) -> Result<(), Refusal> {
        // The turn it is called in is no part of what is asked.
        let turn = asked.remove("turn");
        let of = |like: &Like| {
            let arguments = (like.arguments)(Call(asked.clone()))?;
            self.is_sensitive(std::slice::from_ref(like)).then_some((like.tool, arguments.0))
        };
        let Some((tool, fields)) = likes.iter().find_map(of) else { return Ok(()) };
        let caller = self.identity.in_turn(caller, turn.as_ref().and_then(Value::as_str))?;
        let text = Value::Object(fields).to_string();
        let arguments = canonical::canonical_json(&text, limits::TEXT_BYTES)?.into();
        let tool = tool.name.into();
        self.commands.submit(caller.by, approvals::MayCall { tool, arguments }).await
    }

    /// What waits where the caller may see what it is about; an operator sees all.
    pub(crate) async fn approvals(
        &self,
        caller: &Caller,
        query: ListApprovals,
    ) -> Result<Approvals, Refusal> {
        caller.must_not_be_a_turn()?;
        // What was held a moment ago is shown.
        self.commands.caught_up().await?;
        let (directory, now) = (self.directory.load().clone(), self.clock.now());
        let mut shown = Vec::new();
        for approval in directory.approvals.values() {
            if !query.all && approval.standing(now) != Standing::Waiting {
                continue;
            }
            if self.may_look(caller, approval).await {
                shown.push(self.show(approval));
            }
        }
        Ok(Approvals { approvals: shown })
    }

    /// A person decides; what it was is answered as it now stands.
    pub(crate) async fn decide_approval(
        &self,
        caller: &Caller,
        id: &str,
        decision: Decision,
    ) -> Result<rest::Approval, Refusal> {
        caller.must_not_be_a_turn()?;
        let approval = ids::approval(id)?;
        let reason = decision.reason.map(Into::into);
        let command = DecideApproval { approval, approved: decision.approved, reason };
        let ApprovalDecision { approval, entry } = self.commands.change(caller.by, command).await?;
        let mut shown = self.show(&approval);
        shown.event_id = entry.map(|e| e.event.uid.show(Prefix::Event));
        Ok(shown)
    }

    async fn may_look(&self, caller: &Caller, approval: &Approval) -> bool {
        let operates = caller.by.authority == Authority::Operator;
        if operates || approval.member == caller.by.member {
            return true;
        }
        // Another agent would read what a person has yet to agree to.
        if !approval.is_for(caller.by.member) || caller.member.is_agent() {
            return false;
        }
        if caller.by.authority == Authority::Auditor {
            return true;
        }
        let place = match (&approval.source, &approval.asked) {
            (Some(source), _) => source.conversation,
            (None, Asked::Send { post, .. }) => post.conversation,
            (None, Asked::Call { .. }) => return caller.sees_all(),
        };
        self.reads.place(caller, place).await.is_ok()
    }

    fn show(&self, approval: &Approval) -> rest::Approval {
        let directory = self.directory.load();
        let (tool, text, arguments, conversation) = match &approval.asked {
            Asked::Send { post, .. } => {
                let text = post.message.text.to_string();
                let parts = post.message.parts.as_deref();
                (
                    SendMessage::TOOL.name.to_owned(),
                    Some(text).filter(|t| !t.is_empty()),
                    parts.and_then(|parts| serde_json::from_str(parts).ok()),
                    Some(post.conversation.show(Prefix::Conversation)),
                )
            }
            Asked::Call { tool, arguments } => {
                let whole = arguments.whole().and_then(|json| serde_json::from_str(json).ok());
                (tool.to_string(), None, whole, None)
            }
        };
        let (source, decided) = (approval.source.as_ref(), approval.decided.as_ref());
        rest::Approval {
            id: approval.uid.show(Prefix::Approval),
            state: approval.standing(self.clock.now()).into(),
            agent: view::id(&directory, approval.member),
            created_at: approval.at.into(),
            expires_at: approval.expires.into(),
            tool,
            text,
            arguments,
            conversation,
            source_event: source.map(|s| s.event.show(Prefix::Event)),
            source_conversation: source.map(|s| s.conversation.show(Prefix::Conversation)),
            decided_by: decided.map(|d| view::id(&directory, d.by)),
            decided_at: decided.map(|d| d.at).map(Into::into),
            reason: decided.and_then(|d| d.reason.as_deref()).map(str::to_owned),
            event_id: None,
        }
    }
}
