//! A refusal as an HTTP answer: the status of its code, and the error envelope (design section 4, "Errors").

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::code;
use chorus_wire::error::Envelope;
use serde::Serialize;

use crate::limits::Wait;
use crate::listen::connection_limiter::Full;
pub(super) use crate::request::request_id;

/// When a place may be free again.
const COME_BACK_S: u64 = 5;

/// The answer to a request that was refused.
#[derive(Debug)]
pub(super) struct Refused {
    refusal: Refusal,
    status: StatusCode,
    /// Seconds after which it may succeed.
    retry_after: Option<u64>,
    /// What a browser is shown instead of the sentence alone.
    form: Option<String>,
}

/// Put beside a refused answer, so that it can be counted.
#[derive(Clone, Copy)]
pub(super) struct RefusedWith(pub Code);

/// Put beside a refused answer, so that a browser can be shown it as a page.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// Where it is of use: the log has what went wrong under it.
    pub(super) request_id: Option<String>,
    /// A page that has the sentence, and a form to try again.
    pub(super) form: Option<String>,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(code::status(refusal.code));
        Self {
            refusal,
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            retry_after: None,
            form: None,
        }
    }
}

impl Refused {
    /// HTTP has a status of its own for a method that a path does not take.
    pub(super) fn method(refusal: Refusal) -> Self {
        Self::from(refusal).with_status(StatusCode::METHOD_NOT_ALLOWED)
    }

    /// The same where HTTP has a status of its own for it.
    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl Refused {
    /// A browser is shown this page, which has the sentence and a form to try again.
    pub(super) fn with_form(self, html: String) -> Self {
        Self { form: Some(html), ..self }
    }

    /// The same in other words.
    pub(super) fn with(self, words: impl FnOnce(Refusal) -> Refusal) -> Self {
        Self { refusal: words(self.refusal), ..self }
    }
}

/// Too much in too short a time.
impl From<Wait> for Refused {
    fn from(wait: Wait) -> Self {
        Self { retry_after: Some(wait.seconds()), ..Self::from(too_much(wait)) }
    }
}

/// The words for it, where there is no header that says how long.
pub(super) fn too_much(wait: Wait) -> Refusal {
    let seconds = wait.seconds();
    let message = format!("too much in too short a time; come again in {seconds} s");
    Refusal::new(Code::RateLimited, message)
}

impl Refused {
    /// As it is answered, without a line in the log.
    fn answer(self, request_id: String) -> Response {
        let code = self.refusal.code;
        let sentence = Sentence {
            text: self.refusal.message.to_string(),
            request_id: (code == Code::Internal).then(|| request_id.clone()),
            form: self.form,
        };
        let envelope = Envelope::of(&self.refusal, request_id);
        let body = serde_json::to_vec(&envelope).unwrap_or_default();
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, [(header::CONTENT_TYPE, json)], body).into_response();
        if code == Code::Unauthorized {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(RefusedWith(code));
        response.extensions_mut().insert(sentence);
        response
    }

    /// What a connection is answered that found no place. There may be very many, and a metric counts them.
    pub(super) fn no_place(full: Full) -> Response {
        let refusal = match full {
            Full::All => Refusal::new(
                Code::Unavailable,
                "the host has as many connections as it takes; try again later",
            ),
            Full::Address => Refusal::new(
                Code::RateLimited,
                "too many connections from your address; end some, and try again",
            ),
        };
        let refused = Self { retry_after: Some(COME_BACK_S), ..Self::from(refusal) };
        refused.answer(request_id())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let request_id = request_id();
        log(&self.refusal, &request_id);
        self.answer(request_id)
    }
}

/// The answer to what is no message of JSON-RPC.
pub(super) fn malformed(answer: &impl Serialize) -> Response {
    let text = serde_json::to_string(answer).unwrap_or_default();
    let json = HeaderValue::from_static("application/json");
    let mut response =
        (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, json)], text).into_response();
    response.extensions_mut().insert(RefusedWith(Code::ValidationError));
    response
}

/// Says it once, with the id that the caller is shown.
pub(super) fn log(refusal: &Refusal, request_id: &str) {
    let code = code::name(refusal.code);
    let message = &refusal.message;
    match refusal.code {
        Code::Internal => tracing::error!(request_id, code, message, "a request failed"),
        // To be tried again; what is wrong with the store is said where that is known.
        Code::Unavailable | Code::OutcomeUnknown => {
            tracing::warn!(request_id, code, message, "a request failed");
        }
        // Its message may quote what was asked, and whoever asked has it.
        _ => tracing::debug!(request_id, code, "a request was refused"),
    }
}
