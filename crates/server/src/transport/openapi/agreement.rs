//! The gate before what a person has to agree to (ATT-422): an operation that does what a sensitive tool does.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query, RawPathParams, Request};
use axum::http::Method as Verb;
use axum::http::request::Parts;
use chorus_core::model::error::Refusal;
use serde_json::{Map, Value};

use crate::services::App;
use crate::services::alike::Like;
use crate::transport::extract;
use crate::transport::refused::Refused;

/// The request, unless it is an agent's and a person has to agree to what one of these tools does.
pub(super) async fn agreed(
    app: &Arc<App>,
    likes: &[Like],
    request: Request,
) -> Result<Request, Refused> {
    if !app.approvals.is_sensitive(likes) {
        return Ok(request);
    }
    let (mut parts, mut body) = request.into_parts();
    let caller = extract::charged(app, &parts.headers).await?;
    if caller.member.is_agent() {
        let bytes = extract::read(app, &parts.headers, body).await?;
        let asked = asked(app, &mut parts, &bytes).await?;
        app.approvals.may_do(&caller, likes, asked).await?;
        body = Body::from(bytes);
    }
    // The request counts once.
    parts.extensions.insert(caller);
    Ok(Request::from_parts(parts, body))
}

/// What is asked: the fields of the body, the query and the path. A body that cannot be read is nobody's to agree to.
async fn asked(
    app: &Arc<App>,
    parts: &mut Parts,
    body: &[u8],
) -> Result<Map<String, Value>, Refusal> {
    // A handler reads the body or the query, never both: what it does not read is not what is asked for.
    let has_body = matches!(parts.method, Verb::POST | Verb::PUT | Verb::PATCH);
    let mut asked: Map<String, Value> = match body {
        body if has_body && !body.is_empty() => serde_json::from_slice(body)
            .map_err(|e| Refusal::invalid(format!("the body is not as it should be: {e}")))?,
        _ => Map::new(),
    };
    if !has_body {
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let query = query.map_err(|e| Refusal::invalid(format!("the query: {}", e.body_text())))?;
        asked.extend(query.0.into_iter().map(|(name, value)| (name, word(value))));
    }
    let path = RawPathParams::from_request_parts(parts, app).await;
    let path = path.map_err(|e| Refusal::invalid(format!("the path: {}", e.body_text())))?;
    asked.extend(path.iter().map(|(name, id)| (name.to_owned(), id.into())));
    Ok(asked)
}

/// A number of a query is one of a tool.
fn word(value: String) -> Value {
    match value.parse::<u64>() {
        Ok(number) if number.to_string() == value => number.into(),
        _ => value.into(),
    }
}
