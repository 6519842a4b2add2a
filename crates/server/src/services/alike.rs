//! What does the same as a tool: a tool that is sensitive is so whichever way an agent takes (ATT-193, ATT-422).

use chorus_wire::attention::tools::{ListEvents, ReadThread, SendMessage};
use chorus_wire::channels::{CreateChannelStimulus, EmitOutput, ReadChannelThread};
use chorus_wire::threads::{GetThread, PostMessage, ReadMessages};
use chorus_wire::tool::{Arguments, Tool};
use serde_json::{Map, Value};

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
#[derive(Clone, Copy)]
pub(crate) struct Like {
    pub(crate) tool: &'static Tool,
    /// Its arguments for what is asked; none where it would not do that.
    pub(crate) arguments: fn(Call) -> Option<Call>,
}

pub(crate) const fn like(tool: &'static Tool, arguments: fn(Call) -> Option<Call>) -> Like {
    Like { tool, arguments }
}

/// No tool does the same.
pub(crate) const NO_TOOL: [Like; 0] = [];

/// Words of messages are read, however they are asked for.
pub(crate) const READS: [Like; 4] = [
    like(ReadThread::TOOL, Some),
    like(ReadMessages::TOOL, Some),
    like(ReadChannelThread::TOOL, Some),
    like(ListEvents::TOOL, Some),
];

/// A thread is looked at by its id.
pub(crate) const GETS_THREAD: [Like; 1] = [like(GetThread::TOOL, Some)];

/// Kept whole until a person agrees, in core, and not asked for here.
pub(crate) const SENDS: [Like; 3] =
    [like(SendMessage::TOOL, Some), like(PostMessage::TOOL, Some), like(EmitOutput::TOOL, Some)];

/// A word without a person asking, now or again and again.
pub(crate) const STIMULATES: [Like; 1] =
    [like(CreateChannelStimulus::TOOL, |a| Some(a.called("id", "channel_id")))];
