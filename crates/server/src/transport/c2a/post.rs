//! `POST /v1/c2a`: one JSON-RPC call. A runtime speaks so within its turn, with the turn's token as bearer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_wire::jsonrpc::{ErrorObject, Incoming, Response as Answer};

use super::Asked;
use super::dispatch::{Context, notified, requested};
use crate::services::App;
use crate::transport::extract::{self, Query};
use crate::transport::refused::{Refused, log, malformed, request_id};

pub(super) async fn post(
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let caller = extract::with_token(&app, &headers).await?;
    let names = asked.names()?;
    let bytes = extract::read(&app, &headers, body).await?;
    let incoming = match Incoming::parse_bytes(&bytes) {
        Ok(incoming) => incoming,
        Err(error) => return Ok(malformed(&error.response(request_id()))),
    };
    let context = Context {
        app,
        caller,
        names,
        glyphs: None,
        can: None,
        under_way: Default::default(),
        lived: Default::default(),
    };
    match incoming {
        Incoming::Request { id, method, params } => {
            if method == chorus_wire::attention::method::PING {
                let (by, now) = (context.caller.by, context.app.now());
                context.app.shared.limits.ping(by, None, now)?;
            }
            let text = requested(&context, &id, &method, params).await;
            Ok(text_response(StatusCode::OK, text))
        }
        Incoming::Notification { method, params } => {
            notified(&context, &method, params).await?;
            Ok(StatusCode::ACCEPTED.into_response())
        }
        Incoming::Response { id, .. } => {
            let refusal = chorus_core::model::error::Refusal::invalid(
                "deliveries are acknowledged on the connection that brought them",
            );
            let request_id = request_id();
            log(&refusal, &request_id);
            Ok(malformed(&Answer::error(id.as_ref(), ErrorObject::of(&refusal, request_id))))
        }
    }
}

fn text_response(status: StatusCode, text: String) -> Response {
    let json = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, json)], text).into_response()
}
