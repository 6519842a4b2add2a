//! What handlers take: the caller, a body, a query and ids of the path, each refused with the envelope.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::json::{in_json, read_json};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refused::Refused;
use super::{BODY_BYTES, cookie};
use crate::auth::{Caller, disagreement};
use crate::services::App;

/// The verified caller: who brings a token, or asks from the host's page.
pub(super) struct Bearer(pub Caller);

/// The same for a door that no page uses.
pub(super) struct WithToken(pub Caller);

/// Somebody who asks from the host's page, whose session is to be ended.
pub(super) struct Signed(pub Caller);

/// A JSON body, in or out.
pub(super) struct Json<T>(pub T);

/// The JSON of a `T`, out, by whoever had it encoded already.
pub(super) struct Encoded<T>(Bytes, PhantomData<T>);

impl<T> Encoded<T> {
    pub(super) fn new(json: Bytes) -> Self {
        Self(json, PhantomData)
    }
}

/// The query string.
pub(super) struct Query<T>(pub T);

/// The ids in the path.
pub(super) struct Path<T>(pub T);

/// 201 and what was made.
pub(super) struct Created<T>(pub T);

/// 202 and how it is so far.
pub(super) struct Accepted<T>(pub T);

/// 204: done, and nothing to say.
pub(super) struct Done;

pub(super) type Reply<T> = Result<Json<T>, Refused>;

impl FromRequestParts<Arc<App>> for Bearer {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        // It was counted already where it was asked whether a person has to agree.
        match parts.extensions.remove::<Caller>() {
            Some(caller) => Ok(Self(caller)),
            None => Ok(Self(charged(app, &parts.headers).await?)),
        }
    }
}

impl FromRequestParts<Arc<App>> for WithToken {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        Ok(Self(with_token(app, &parts.headers).await?))
    }
}

impl FromRequestParts<Arc<App>> for Signed {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        let Bearer(caller) = Bearer::from_request_parts(parts, app).await?;
        if parts.headers.contains_key(header::AUTHORIZATION) {
            let why = "this ends the session of a browser; DELETE /v1/tokens/{jti} ends a token";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        Ok(Self(caller))
    }
}

/// The caller, whose request counts: who brings a token, or asks from the host's page.
pub(super) async fn charged(app: &App, headers: &HeaderMap) -> Result<Caller, Refused> {
    if headers.contains_key(header::AUTHORIZATION) {
        return with_token(app, headers).await;
    }
    let Some(session) = cookie::of_page(headers, &app.shared.public_url)? else {
        return with_token(app, headers).await;
    };
    let caller = app.identity.in_browser(session)?;
    app.shared.limits.call(caller.by, app.now())?;
    Ok(caller)
}

/// The caller behind the `Authorization` header, whose request counts.
pub(super) async fn with_token(app: &App, headers: &HeaderMap) -> Result<Caller, Refused> {
    let caller = app.identity.identify(bearer(headers)?).await?;
    app.shared.limits.call(caller.by, app.now())?;
    Ok(caller)
}

/// The caller of a request whose bearer or session was identified already.
fn caller(app: &App, headers: &HeaderMap) -> Result<Caller, Refusal> {
    match cookie::of_page(headers, &app.shared.public_url) {
        Ok(Some(session)) if !headers.contains_key(header::AUTHORIZATION) => {
            app.identity.in_browser(session)
        }
        _ => app.identity.caller(bearer(headers)?),
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let unauthorized = |why: &str| Refusal::new(Code::Unauthorized, why);
    let value = headers.get(header::AUTHORIZATION).ok_or_else(|| {
        unauthorized("a token is needed: Authorization: Bearer …; `chorus token issue` gives one")
    })?;
    let value = value.to_str().map_err(|_| unauthorized("the Authorization header is not text"))?;
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthorized("the Authorization header has the form: Bearer <token>"));
    }
    Ok(token.trim())
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refused> {
        let (parts, body) = request.into_parts();
        let bytes = read(app, &parts.headers, body).await?;
        // A body that may be absent reads as an empty object.
        let text = if bytes.is_empty() { &b"{}"[..] } else { &bytes };
        let text =
            std::str::from_utf8(text).map_err(|_| Refusal::invalid("the body is not UTF-8"))?;
        // A list would be read as the fields in their order.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(mistaken(app, &parts, text, "not a JSON object").into());
        }
        read_json(text).map(Self).map_err(|why| mistaken(app, &parts, text, &why).into())
    }
}

/// The whole body, if it is not too long.
pub(super) async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    read_up_to(app, headers, body, BODY_BYTES, too_large).await
}

/// The whole body, if it is not longer than `most`.
pub(super) async fn read_up_to(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    most: usize,
    too_large: fn() -> Refusal,
) -> Result<Bytes, Refusal> {
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    if stated.is_some_and(|length: u64| length > most as u64) {
        return Err(too_large());
    }
    let whole = tokio::time::timeout(app.shared.body_time, to_bytes(body, most)).await;
    let whole = whole.map_err(|_| {
        let seconds = app.shared.body_time.as_secs();
        Refusal::invalid(format!("the body did not come within {seconds} s; send it at once"))
    })?;
    whole.map_err(|e| {
        let source = std::error::Error::source(&e);
        match source.is_some_and(|s| s.is::<http_body_util::LengthLimitError>()) {
            true => too_large(),
            false => Refusal::invalid("the body broke off"),
        }
    })
}

fn too_large() -> Refusal {
    Refusal::new(Code::PayloadTooLarge, format!("a request has at most {BODY_BYTES} bytes"))
}

/// Why a body is not what it should be. One that also states another identity is told so first; but what the registry
/// calls `agent_id` is who is hired, and not who calls.
fn mistaken(app: &App, parts: &Parts, text: &str, error: &str) -> Refusal {
    let caller = caller(app, &parts.headers).ok().filter(|_| parts.uri.path().starts_with("/v1"));
    let disagrees = caller.and_then(|c| disagreement(&c, app.identity.workspace(), text));
    disagrees
        .unwrap_or_else(|| Refusal::invalid(format!("the body is not as it should be: {error}")))
}

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Query<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Refused> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|q| Self(q.0)).map_err(|e| {
            let words = e.body_text();
            let words =
                words.strip_prefix("Failed to deserialize query string: ").unwrap_or(&words);
            Refusal::invalid(format!("the query: {}", in_json(words))).into()
        })
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Path<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, app).await;
        path.map(|p| Self(p.0))
            .map_err(|e| Refusal::invalid(format!("the path: {}", e.body_text())).into())
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

impl<T> IntoResponse for Encoded<T> {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, json)], self.0).into_response()
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        json(StatusCode::CREATED, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        json(StatusCode::ACCEPTED, &self.0)
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let mut body = Vec::with_capacity(1024);
    match serde_json::to_writer(&mut body, value) {
        Ok(()) => {
            let json = HeaderValue::from_static("application/json");
            (status, [(header::CONTENT_TYPE, json)], body).into_response()
        }
        Err(e) => {
            let refusal = Refusal::new(Code::Internal, format!("an answer is no JSON: {e}"));
            Refused::from(refusal).into_response()
        }
    }
}
