//! What is below the address of a workspace, `/w/NAME`: served as if it were a host of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::Refusal;
use chorus_core::model::workspace_name::WorkspaceName;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::refused::Refused;
use crate::cluster::{Access, Below};
use crate::workspaces::{Entered, PREFIX, Timed, Way, Workspaces};

/// Answers a request whose path begins with the address of a workspace that was entered.
pub(super) async fn serve(entered: Entered, mut request: Request) -> Result<Response, Refusal> {
    let (name, rest) = named(request.uri())?;
    if rest.path() != "/readyz" {
        entered.admit()?;
    }
    *request.uri_mut() = rest;
    let work = TowerToHyperService::new(entered.served.router()).call(request);
    let Ok(mut response) = Timed { work: Box::pin(work), bounds: entered.bounds.clone() }.await;
    if [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&response.status()) {
        entered.give_back();
    }
    // Its own paths begin at its address.
    let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
    if let Some(to) = to.filter(|to| to.starts_with('/'))
        && let Ok(to) = HeaderValue::from_str(&format!("{PREFIX}{name}{to}"))
    {
        response.headers_mut().insert(header::LOCATION, to);
    }
    // It is used as long as the answer is under way.
    Ok(response.map(|body| Body::new(WhileEntered { body, entered })))
}

impl Below for Workspaces {
    fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Option<Response>> {
        let answered = async move {
            let (name, _) = named(request.uri())?;
            match self.way(&name, true).await? {
                Way::Here(entered) => serve(entered, request).await.map(Some),
                Way::Elsewhere(..) | Way::Nowhere(_) => Ok(None),
            }
        };
        let answered = answered.map(|answered| {
            answered.unwrap_or_else(|refusal| Some(Refused::from(refusal).into_response()))
        });
        answered.boxed()
    }

    fn access(self: Arc<Self>, name: String) -> BoxFuture<'static, Option<Access>> {
        async move { self.access_here(&name).await }.boxed()
    }

    fn close(self: Arc<Self>, name: String) -> BoxFuture<'static, ()> {
        async move {
            if let Ok(name) = WorkspaceName::parse(&name) {
                self.close_for_other(name).await;
            }
        }
        .boxed()
    }
}

/// The workspace that a path names, and what comes after its name.
pub(super) fn named(uri: &Uri) -> Result<(String, Uri), Refusal> {
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let end = path.find(['/', '?']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let rest = rest.parse().map_err(|_| Refusal::invalid("this is no path"))?;
    Ok((name.to_owned(), rest))
}

/// The body of an answer, with what keeps its workspace open.
struct WhileEntered {
    body: Body,
    entered: Entered,
}

impl HttpBody for WhileEntered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        this.entered.bounds.timed(|| Pin::new(&mut this.body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
