//! `POST /channels/{channel_id}/inbox/{token}`: the URL is all the authority there is.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use chorus_core::model::error::Refusal;
use chorus_wire::webhook::{Accepted, CallbackEvent, IDEMPOTENCY_KEY};

use super::events::Events;
use crate::auth::callback::Called;
use crate::services::App;
use crate::transport::extract::{Json, Path, Reply};
use crate::transport::refused::Refused;

/// Events are processed in the order in which they come, each before the next. The first that is refused ends it; the
/// answer says how, and what came before stands.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    Path((channel, token)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Reply<Accepted> {
    let called = app.callbacks.called(&channel, &token)?;
    app.shared.limits.call(called.caller.by, app.now())?;
    let key = headers.get(IDEMPOTENCY_KEY).map(text);
    let key = key.as_deref();
    let mut events =
        Events::of(body.into_data_stream(), || app.shared.clock.wait(app.shared.body_time));
    let mut accepted = Accepted::default();
    loop {
        let before = accepted.accepted;
        let next = events.next().await.map_err(|refusal| after(before, refusal))?;
        let Some(event) = next else { break };
        if before > 0 {
            // Many in one body cost what they cost one by one.
            app.shared
                .limits
                .call(called.caller.by, app.now())
                .map_err(|wait| Refused::from(wait).with(|refusal| after(before, refusal)))?;
        }
        let took = take(&app, &called, &event, key, before).await;
        let took = took.map_err(|refusal| after(before, refusal))?;
        accepted.accepted += 1;
        accepted.duplicates += u64::from(took.duplicate);
        accepted.callback = took.callback.or(accepted.callback);
    }
    if accepted.accepted == 0 {
        return Err(Refusal::invalid("a callback takes a JSON object, or several").into());
    }
    Ok(Json(accepted))
}

/// A key is compared and never shown: one that is no ASCII is as good as any.
fn text(key: &HeaderValue) -> String {
    match key.to_str() {
        Ok(key) => key.to_owned(),
        Err(_) => key.as_bytes().escape_ascii().to_string(),
    }
}

/// What stood before a refused event in the same body stands.
fn after(before: u64, refusal: Refusal) -> Refusal {
    match before {
        0 => refusal,
        before => {
            Refusal { message: format!("after {before} events: {}", refusal.message), ..refusal }
        }
    }
}

async fn take(
    app: &App,
    called: &Called,
    event: &[u8],
    key: Option<&str>,
    before: u64,
) -> Result<crate::services::callbacks::Took, Refusal> {
    let event: CallbackEvent = serde_json::from_slice(event)
        .map_err(|why| Refusal::invalid(format!("not an event of a callback: {why}")))?;
    // One key is for the whole body: its events are told apart by their places.
    let key = key.map(|key| if before == 0 { key.to_owned() } else { format!("{key}#{before}") });
    app.callbacks.callback(called, event, key).await
}
