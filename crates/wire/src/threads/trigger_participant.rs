//! `trigger_participant`: wakes a participant whose session sleeps while messages wait for it
//! (threads spec section 3.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::schema;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `trigger_participant`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerParticipant {
    /// Thread id, th_…
    pub thread_id: String,
    /// Member id of the agent to wake
    pub target_agent_id: String,
    /// Why, in one word; new_unread_messages by default
    pub reason: Option<String>,
    /// What to tell the agent, beside where its messages are; at most 4,096 bytes
    #[serde(default)]
    #[schemars(schema_with = "schema::trigger_prompt")]
    #[redact(fixed = 3)]
    pub trigger_prompt: Option<String>,
    /// Do not wait until the person at the agent's terminal has stopped typing. Only an operator may
    /// ask for this. A draft in the prompt box is never touched
    #[serde(default)]
    pub force: bool,
}

impl Arguments for TriggerParticipant {
    type Result = Triggered;

    const TOOL: &'static Tool = &Tool {
        name: "trigger_participant",
        title: "Wake a participant",
        description: "Wake an agent that sleeps while messages of a thread wait for it. Not needed \
                      for messages that the agent must answer: the host wakes it for those itself.",
        effect: Effect::Adds,
        reach: Reach::Named,
        for_turns: false,
        sends: false,
        caller_fields: Some(&[]),
        shape: Shape::derived::<Self>(),
    };
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triggered {
    pub target_agent_id: String,
    pub action: Action,
    pub result: TriggerResult,
    /// `human_input_busy`: a person is typing at the agent's terminal.
    pub defer_reason: Option<String>,
    pub deferred_until: Option<Time>,
    /// What is tried when the terminal cannot be used: `resume_session` or `start_session`.
    pub fallback_action: Option<String>,
    /// The command by which the runner would resume the session.
    #[redact(fixed = 3)]
    pub runtime_command: Option<String>,
    pub triggered_at: Time,
    /// `wake_…`; absent when there was nothing to wake for.
    pub wake_id: Option<String>,
    /// How the runtime was reached, once it was.
    pub lane: Option<String>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing waits for the agent, or it is awake: nothing was done.
    None,
    /// Its runner was asked to wake it.
    TriggerRuntime,
}

/// What came of it so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerResult {
    /// Nothing waits for the agent in this thread.
    NothingUnread,
    /// A session of the agent is connected that takes its messages without being woken.
    Awake,
    /// The runner has not reported yet, or is not connected at the moment.
    Queued,
    /// A person is typing; it is tried again at `deferred_until`.
    Deferred,
    /// The agent's turn runs.
    Triggered,
}
