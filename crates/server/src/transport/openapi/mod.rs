//! The OpenAPI document at `/v1/openapi.json`, made from the routes themselves.
//!
//! A transport has no other way to make a route than [`Routes`], which takes a handler together with a [`Doc`]: a
//! route without documentation does not compile. Parameters, bodies and answers are read off the handler's
//! type ([`describe`]), so that the document cannot say another thing than the code does. What types do not
//! say, the summary, the refusals and the examples, stands beside the route.

mod agreement;
mod describe;
mod document;
mod names;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodFilter};
use chorus_core::model::error::Code;
use describe::Describes;
pub(super) use describe::{Draft, Takes};
use names::Meaning;

use crate::services::App;
use crate::services::alike::{Like, NO_TOOL};

/// What a handler's type does not say of an operation.
pub(super) struct Doc {
    /// The operation's name in clients that are generated: `post_message`.
    id: &'static str,
    summary: &'static str,
    /// The tools that do the same: an agent asks a person here too, where it would have to before it calls one of them
    /// (ATT-422). The document names them under `x-tools`.
    same: Arc<[Like]>,
    codes: &'static [Code],
    more: Vec<fn(&mut Draft<'_>)>,
}

impl Doc {
    /// What has no tool that does the same says [`NO_TOOL`]: what no tool does, what ends something, and what is
    /// nobody's but a person's. So do the transports of tools, which look at each call by itself.
    pub(super) fn new(
        id: &'static str,
        summary: &'static str,
        same: impl Into<Arc<[Like]>>,
    ) -> Self {
        Self { id, summary, same: same.into(), codes: &[], more: Vec::new() }
    }

    /// What it refuses with, beside what its parameters and every request may be refused with.
    pub(super) fn refuses(mut self, codes: &'static [Code]) -> Self {
        self.codes = codes;
        self
    }

    /// For a handler that answers with a bare `Response` or reads a bare body: says what that is.
    pub(super) fn with(mut self, more: fn(&mut Draft<'_>)) -> Self {
        self.more.push(more);
        self
    }
}

/// One operation, as the document tells it.
struct Operation {
    tag: &'static str,
    method: &'static str,
    path: &'static str,
    doc: Doc,
    /// JSON: the examples of the group, by the operation's id.
    examples: &'static str,
    /// What names in its path mean.
    names: Vec<(&'static str, Meaning)>,
    describe: fn(&mut Draft<'_>),
}

/// The routes of a transport, each with its documentation.
pub(super) struct Routes {
    tag: &'static str,
    examples: &'static str,
    names: Vec<(&'static str, Meaning)>,
    router: Router<Arc<App>>,
    operations: Vec<Operation>,
}

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler of any type: what axum needs to route to one is compiled once for all of them.
type Run = Arc<dyn Fn(Request, Arc<App>) -> Answer + Send + Sync>;

macro_rules! methods {
    ($($name:ident: $filter:ident),*) => {$(
        pub(super) fn $name<H, T, D>(self, path: &'static str, handler: H, doc: Doc) -> Self
        where
            H: Handler<T, Arc<App>, Future = Answer> + Describes<D> + Sync,
            T: 'static,
        {
            let run: Run = Arc::new(move |request, app| handler.clone().call(request, app));
            self.route(stringify!($name), MethodFilter::$filter, path, run, doc, H::describe)
        }
    )*};
}

impl Routes {
    /// A group of routes with its examples: a JSON object with an entry for each operation's id, in which are
    /// `path`, `query`, `body` and `answer`, as far as the operation has them.
    pub(super) fn of(tag: &'static str, examples: &'static str) -> Self {
        Self { tag, examples, names: Vec::new(), router: Router::new(), operations: Vec::new() }
    }

    /// What `{name}` means in the paths of the routes that follow, and one that could be there.
    pub(super) fn name(
        mut self,
        name: &'static str,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        self.names.push((name, (meaning, example)));
        self
    }

    methods!(get: GET, post: POST, put: PUT, patch: PATCH, delete: DELETE);

    fn route(
        mut self,
        method: &'static str,
        filter: MethodFilter,
        path: &'static str,
        run: Run,
        doc: Doc,
        describe: fn(&mut Draft<'_>),
    ) -> Self {
        let same = doc.same.clone();
        let handler = move |State(app): State<Arc<App>>, request: Request| async move {
            match agreement::agreed(&app, &same, request).await {
                Ok(request) => run(request, app).await,
                Err(refused) => refused.into_response(),
            }
        };
        self.router = self.router.route(path, routing::on(filter, handler));
        let (tag, examples, names) = (self.tag, self.examples, self.names.clone());
        self.operations.push(Operation { tag, method, path, doc, examples, names, describe });
        self
    }

    /// Puts another group beside this one.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self
    }

    pub(super) fn router(self) -> Router<Arc<App>> {
        self.router
    }
}

/// `/v1/openapi.json`.
pub(super) fn routes() -> Routes {
    Routes::of("host", include_str!("examples.json")).get(
        "/v1/openapi.json",
        show,
        Doc::new("openapi", "This document.", NO_TOOL).with(|draft| {
            draft.answer(200, "application/json", Some(serde_json::json!({"type": "object"})));
        }),
    )
}

async fn show() -> Response {
    let json = axum::http::HeaderValue::from_static("application/json");
    ([(axum::http::header::CONTENT_TYPE, json)], document::bytes()).into_response()
}
