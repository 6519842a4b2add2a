//! A refusal as an HTTP answer: the status of its code, and the error envelope (design section 4, "Errors").

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_core::error::{Code, Refusal};
use chorus_wire::code;
use chorus_wire::error::Envelope;

pub(super) use super::request::request_id;

/// The answer to a request that was refused.
#[derive(Debug)]
pub(super) struct Refused {
    refusal: Refusal,
    status: StatusCode,
}

/// Put beside a refused answer, so that it can be counted.
#[derive(Clone, Copy)]
pub(super) struct RefusedWith(pub Code);

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(code::status(refusal.code));
        Self { refusal, status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR) }
    }
}

impl Refused {
    /// HTTP has a status of its own for a method that a path does not take.
    pub(super) fn method(refusal: Refusal) -> Self {
        Self { refusal, status: StatusCode::METHOD_NOT_ALLOWED }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let code = self.refusal.code;
        let request_id = request_id();
        log(&self.refusal, &request_id);
        let envelope = Envelope::of(&self.refusal, request_id);
        let body = serde_json::to_vec(&envelope).unwrap_or_default();
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, [(header::CONTENT_TYPE, json)], body).into_response();
        if code == Code::Unauthorized {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response.extensions_mut().insert(RefusedWith(code));
        response
    }
}

/// Says it once, with the id that the caller is shown.
pub(super) fn log(refusal: &Refusal, request_id: &str) {
    let code = code::name(refusal.code);
    if matches!(refusal.code, Code::Internal | Code::Unavailable) {
        tracing::error!(request_id, code, message = refusal.message, "a request failed");
    } else {
        tracing::debug!(request_id, code, message = refusal.message, "a request was refused");
    }
}
