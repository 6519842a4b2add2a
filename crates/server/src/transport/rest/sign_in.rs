//! `/v1/sign-in-links` and `/v1/invitations`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::sign_in::{Invitation, NewInvitation, SignInLink};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Json};
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
