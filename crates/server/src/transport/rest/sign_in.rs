//! `/v1/sign-in-links`, `/v1/invitations` and `/v1/sign-out`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::Code;
use chorus_wire::rest::sign_in::{Invitation, NewInvitation, SignInLink};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::cookie;
use crate::transport::extract::{Bearer, Created, Done, Json, Query, Signed};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("sign in", include_str!("examples/sign_in.json"))
        .post(
            "/v1/sign-in-links",
            link,
            Doc::new(
                "create_sign_in_link",
                "A link with which the calling person signs in elsewhere.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict]),
        )
        .post(
            "/v1/invitations",
            invite,
            Doc::new(
                "create_invitation",
                "A link that works once: whoever opens it sets a name and is in.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound, Code::Conflict]),
        )
        .post(
            "/v1/sign-out",
            sign_out,
            Doc::new(
                "sign_out",
                "Ends the session of the browser that asks; with `everywhere` all sessions and tokens of its member.",
                NO_TOOL,
            )
            .with(|draft| draft.answer(204, "", None)),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignOut {
    /// All that the member has: other browsers, and programs that it has signed in.
    #[serde(default)]
    everywhere: bool,
}

async fn sign_out(
    State(app): Host,
    Signed(caller): Signed,
    Query(asked): Query<SignOut>,
) -> Result<Response, Refused> {
    app.sign_ins.sign_out(&caller, asked.everywhere).await?;
    let mut response = Done.into_response();
    if let Some(cookie) = cookie::of_nobody(&app.shared.public_url) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

async fn link(State(app): Host, Bearer(caller): Bearer) -> Result<Created<SignInLink>, Refused> {
    Ok(Created(app.sign_ins.link(&caller)?))
}

async fn invite(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewInvitation>,
) -> Result<Created<Invitation>, Refused> {
    Ok(Created(app.sign_ins.invite(&caller, new).await?))
}
