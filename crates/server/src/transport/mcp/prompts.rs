//! Prompts that a person may give their agent: the standing rules, and catching up.

use chorus_core::attention::framing::RESPONSE_RULES;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

const RULES: &str = "standing_response_rules";
const CATCH_UP: &str = "catch_me_up";

pub(super) fn list() -> Vec<Prompt> {
    let thread = PromptArgument::new("thread_id")
        .with_description("The thread, th_…; without it everything that waits for you")
        .with_required(false);
    vec![
        Prompt::new(RULES, Some("When to answer in Chorus, and when to stay silent"), None)
            .with_title("Standing response rules"),
        Prompt::new(CATCH_UP, Some("What happened, and what waits for you"), Some(vec![thread]))
            .with_title("Catch me up"),
    ]
}

pub(super) fn get(
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        RULES => RESPONSE_RULES.to_owned(),
        CATCH_UP => {
            let thread = arguments.and_then(|given| given.get("thread_id")?.as_str());
            let what = match thread {
                Some(id) if is_id(id) => format!(
                    "Catch me up on the thread {id}: call summarize_thread, then read_messages after the seq I \
                     acknowledged last."
                ),
                Some(_) => return Err(ErrorData::invalid_params("thread_id is th_…", None)),
                None => "Catch me up: call chat.list_events with unsettled: true, then read the threads that \
                         these events are in."
                    .to_owned(),
            };
            format!(
                "{what} Tell me in a few sentences what was decided, what is open and who waits for whom, with the \
                 message ids. Answer nobody yet.\n\n{RESPONSE_RULES}"
            )
        }
        _ => return Err(ErrorData::invalid_params("there is no such prompt", None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// Nothing else of the caller's gets into a prompt.
fn is_id(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
