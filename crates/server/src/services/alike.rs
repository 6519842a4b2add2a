//! What does the same as a tool: a tool that is sensitive is so whichever way an agent takes (ATT-193, ATT-422).

use chorus_wire::attention::descriptors::Tool;
use chorus_wire::channels;
use chorus_wire::threads::descriptors::Method;
use serde_json::{Map, Value};

pub(crate) const REACT_IN_CHANNEL: Tool = Tool::Channels(channels::Tool::SetChannelReaction);
pub(crate) const READ_CHANNEL: Tool = Tool::Channels(channels::Tool::ReadChannelThread);
pub(crate) const STIMULATE: Tool = Tool::Channels(channels::Tool::CreateChannelStimulus);
pub(crate) const EMIT: Tool = Tool::Channels(channels::Tool::EmitOutput);
pub(crate) const POST: Tool = Tool::Threads(Method::PostMessage);
pub(crate) const READ_MESSAGES: Tool = Tool::Threads(Method::ReadMessages);
pub(crate) const SUMMARIZE: Tool = Tool::Threads(Method::SummarizeThread);
pub(crate) const SET_STATUS: Tool = Tool::Threads(Method::UpdateThreadStatus);

/// What is asked, by name.
pub(crate) struct Call(pub(crate) Map<String, Value>);

impl Call {
    /// What is `old` here is `new` there.
    pub(crate) fn called(mut self, old: &str, new: &str) -> Self {
        if let Some(value) = self.0.remove(old) {
            self.0.insert(new.to_owned(), value);
        }
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Only where it has this word, which goes without saying there.
    pub(crate) fn where_it_is(mut self, name: &str, word: &str) -> Option<Self> {
        (self.0.remove(name)? == word).then_some(self)
    }
}

/// A tool that does the same.
pub(crate) struct Like {
    pub(crate) tool: Tool,
    /// Its arguments for what is asked; none where it would not do that.
    pub(crate) arguments: fn(Call) -> Option<Call>,
}

pub(crate) const fn like(tool: Tool, arguments: fn(Call) -> Option<Call>) -> Like {
    Like { tool, arguments }
}

/// Words of messages are read, however they are asked for.
pub(crate) const READS: &[Like] = &[
    like(Tool::ReadThread, Some),
    like(READ_MESSAGES, Some),
    like(READ_CHANNEL, Some),
    like(Tool::ListEvents, Some),
];

/// A thread is looked at by its id.
pub(crate) const GETS_THREAD: &[Like] = &[like(Tool::Threads(Method::GetThread), Some)];

const REACTS: &[Like] = &[like(Tool::React, |a| Some(a.called("message_id", "inReplyTo")))];

const REACTS_IN_CHANNEL: &[Like] =
    &[like(REACT_IN_CHANNEL, |a| Some(a.called("inReplyTo", "message_id")))];

/// Where it is a thread that is resolved.
const SETS_RESOLVED: &[Like] = &[like(SET_STATUS, |a| {
    let is_thread = a.0.contains_key("threadId");
    let asked = a.called("threadId", "thread_id").called("note", "reason");
    is_thread.then(|| asked.with("status", "resolved"))
})];

const RESOLVES: &[Like] = &[like(Tool::Resolve, |a| {
    let resolved = a.where_it_is("status", "resolved")?;
    Some(resolved.called("thread_id", "threadId").called("reason", "note"))
})];

/// The other tools that do what this one does.
pub(crate) fn of_tool(tool: Tool) -> &'static [Like] {
    match tool {
        Tool::ReadThread | Tool::ListEvents | READ_MESSAGES | READ_CHANNEL | SUMMARIZE => READS,
        Tool::React => REACTS_IN_CHANNEL,
        REACT_IN_CHANNEL => REACTS,
        Tool::Resolve => SETS_RESOLVED,
        SET_STATUS => RESOLVES,
        _ => &[],
    }
}
