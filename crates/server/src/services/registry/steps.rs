//! How the steps of a pipeline follow: what each begins with is made of what those before it have made.

use chorus_core::model::job::{Job, JobResult, Next};
use chorus_core::model::limits;
use chorus_wire::canonical::canonical_json;
use serde_json::{Map, Value};

use super::schemas::must_fit;
use crate::services::reads::Reads;

/// What a result makes of the pipeline that its job is a step of.
pub(super) async fn next(reads: &Reads, job: &Job, result: &JobResult) -> Option<Next> {
    let pipeline = job.pipeline.as_ref()?;
    let output = result.output.as_deref().filter(|_| result.success)?;
    let context = match added(&pipeline.context, output) {
        Ok(context) => context,
        Err(why) => {
            return Some(Next { context: pipeline.context.clone(), input: Err(why.into()) });
        }
    };
    let Some(step) = pipeline.rest.first() else {
        return Some(Next { context: context.into(), input: Ok("{}".into()) });
    };
    let made = input(step.input.as_deref(), &context);
    let (agent, skill) = (step.agent, step.skill.clone());
    let listing = reads.read(move |readers| readers.listing(agent)).await.ok().flatten();
    let schema = listing.and_then(|(l, _)| l.skill(&skill).map(|skill| skill.input.clone()));
    let input = match (made, &schema) {
        (Ok(input), Some(schema)) => match must_fit(agent, schema, &input, "input_data").await {
            Ok(()) => Ok(input),
            Err(refusal) => Err(refusal.message),
        },
        // Whoever asks for the step says what is missing.
        (made, _) => made,
    };
    Some(Next { context: context.into(), input: input.map(Into::into).map_err(Into::into) })
}

/// A context with a step's output added to it.
fn added(context: &str, output: &str) -> Result<String, String> {
    let read = |json: &str| serde_json::from_str::<Map<String, Value>>(json);
    let (Ok(mut context), Ok(output)) = (read(context), read(output)) else {
        return Err("the output is no JSON object, and cannot be added to the context".to_owned());
    };
    context.extend(output);
    canonical(&Value::Object(context))
}

/// The input of a step, made of the context.
pub(super) fn input(template: Option<&str>, context: &str) -> Result<String, String> {
    let Some(template) = template else { return Ok(context.to_owned()) };
    let context: Value = serde_json::from_str(context).map_err(|e| e.to_string())?;
    let mut made: Value = serde_json::from_str(template).map_err(|e| e.to_string())?;
    fill(&mut made, &context)?;
    canonical(&made)
}

fn fill(value: &mut Value, context: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let Some(name) = text.strip_prefix('$') else { return Ok(()) };
            let found = context.get(name).cloned();
            let shown: String = name.chars().take(64).collect();
            *value = found.ok_or_else(|| format!("the context has no field {shown:?}"))?;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, context)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| fill(field, context)),
        _ => Ok(()),
    }
}

fn canonical(value: &Value) -> Result<String, String> {
    canonical_json(&value.to_string(), limits::JOB_DATA_BYTES).map_err(|refusal| refusal.message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: REG-62
    #[test]
    fn a_steps_input_is_made_of_the_context() {
        let context = r#"{"n":7,"text":"hi"}"#;
        for (template, made) in [
            (r#"{"a": "$text", "b": ["$n", "n"]}"#, Some(r#"{"a":"hi","b":[7,"n"]}"#)),
            (r#"{"a": "$nobody"}"#, None),
            (r#"{"price": "5"}"#, Some(r#"{"price":"5"}"#)),
        ] {
            assert_eq!(input(Some(template), context).ok().as_deref(), made, "{template}");
        }
        assert_eq!(input(None, context).unwrap(), context);
        assert_eq!(added(context, r#"{"n":8}"#).unwrap(), r#"{"n":8,"text":"hi"}"#);
    }
}
