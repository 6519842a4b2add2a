//! Stimuli: requests to open or continue a public thread without a person asking.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::Command;
use chorus_core::commands::stimuli::{QueuedStimulus, SteerStimulus, Stimulate};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_core::model::{requests, stimulus};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::stimuli::{
    ListStimuli, NewStimulus, Stimuli, Stimulus, StimulusScope, StimulusVisibility,
};

use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view;

/// Stimuli.
pub(crate) struct StimulusService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl StimulusService {
    /// With a turn's token too: an agent may have an idea in it.
    pub(crate) async fn add_stimulus(
        &self,
        caller: &Caller,
        id: &str,
        new: NewStimulus,
    ) -> Result<Stimulus, Refusal> {
        let conversation = ids::conversation(id)?;
        let thread = match (new.scope, new.thread.as_deref()) {
            (StimulusScope::Thread, Some(id)) => Some(ids::thread(id)?),
            (StimulusScope::Channel, None) => None,
            _ => {
                return Err(Refusal::invalid("scope thread goes with a thread, and no other does"));
            }
        };
        let (source, targets) = {
            let directory = self.directory.load();
            let source = new
                .source
                .as_deref()
                .map(|id| ids::member_for(&directory, caller, id))
                .transpose()?;
            (source.map(|m| m.key), ids::members_for(&directory, caller, &new.targets)?)
        };
        let command = requests::NewStimulus {
            conversation,
            kind: new.kind.0,
            source,
            thread,
            text: new.text.into(),
            title: new.title.map(Into::into),
            targets,
            private: new.visibility == StimulusVisibility::Targets,
            progress_key: new.progress_key.map(Into::into),
            dedupe_key: new.dedupe_key.map(Into::into),
            initiative_key: new.initiative_key.map(Into::into),
            expires_at: new.expires_at.map(|t| t.0),
        };
        self.stimulus_of(caller, Stimulate(command)).await
    }

    /// Calls it off, or asks `again` for one that was cancelled.
    pub(crate) async fn steer_stimulus(
        &self,
        caller: &Caller,
        id: &str,
        stimulus: &str,
        again: bool,
    ) -> Result<Stimulus, Refusal> {
        caller.must_not_be_a_turn()?;
        let (conversation, stimulus) = (ids::conversation(id)?, ids::stimulus(stimulus)?);
        self.stimulus_of(caller, SteerStimulus { conversation, stimulus, again }).await
    }

    async fn stimulus_of<C>(&self, caller: &Caller, command: C) -> Result<Stimulus, Refusal>
    where
        C: Command<Output = QueuedStimulus>,
    {
        let QueuedStimulus { conversation, stimulus } =
            self.commands.submit(caller.by, command).await?;
        Ok(self.show_stimulus(&conversation, &stimulus))
    }

    /// The queue of a channel and what ended there lately, oldest first.
    pub(crate) async fn stimuli(
        &self,
        caller: &Caller,
        id: &str,
        query: ListStimuli,
    ) -> Result<Stimuli, Refusal> {
        let conversation = self.reads.place(caller, ids::conversation(id)?).await?.conversation;
        let key = conversation.key;
        let found = self.reads.read(move |readers| readers.stimuli(key)).await?;
        let me = caller.viewer();
        // What is for some only is shown to them, to whose word it is, and to auditors.
        let mine = |s: &&stimulus::Stimulus| {
            let own = |m| s.source == m || s.targets.contains(&m);
            !s.private || me.is_none_or(own)
        };
        let wanted = found.iter().filter(|s| query.state.is_none_or(|state| state == s.state));
        let stimuli = wanted.filter(mine).map(|s| self.show_stimulus(&conversation, s)).collect();
        Ok(Stimuli { stimuli })
    }

    pub(crate) async fn stimulus(
        &self,
        caller: &Caller,
        id: &str,
        stimulus: &str,
    ) -> Result<Stimulus, Refusal> {
        let uid = ids::stimulus(stimulus)?.show(Prefix::Stimulus);
        let all = self.stimuli(caller, id, ListStimuli::default()).await?.stimuli;
        let found = all.into_iter().find(|s| s.id == uid);
        found.ok_or_else(|| Refusal::not_found("stimulus"))
    }

    fn show_stimulus(&self, conversation: &Conversation, s: &stimulus::Stimulus) -> Stimulus {
        let directory = self.directory.load();
        let id = |m| view::id(&directory, m);
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        Stimulus {
            id: s.uid.show(Prefix::Stimulus),
            conversation: conversation.uid.show(Prefix::Conversation),
            kind: s.kind.into(),
            state: s.state.into(),
            scope: if s.thread.is_some() { StimulusScope::Thread } else { StimulusScope::Channel },
            thread: s.thread.map(|(_, uid)| uid.show(Prefix::Thread)),
            source: id(s.source),
            targets: s.targets.iter().map(|m| id(*m)).collect(),
            visibility: if s.private {
                StimulusVisibility::Targets
            } else {
                StimulusVisibility::Public
            },
            text: Some(s.text.to_string()).filter(|text| !text.is_empty()),
            progress_key: text(&s.progress_key),
            dedupe_key: text(&s.dedupe_key),
            initiative_key: text(&s.initiative_key),
            created_at: s.created_at.into(),
            due_at: s.state.is_queued().then_some(s.due_at.into()),
            expires_at: s.expires_at.map(Into::into),
            ended_at: s.ended_at.map(Into::into),
            event_id: s.said.map(|uid| uid.show(Prefix::Event)),
            superseded_by: s.by.map(|uid| uid.show(Prefix::Stimulus)),
            reason: text(&s.reason),
        }
    }
}
