//! The pages behind sign-in links and invitations. Looking at one changes nothing, so that no preview of a link spends it; a
//! button does. A browser is given a session cookie, a program the token.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::sign_in::{SignIn, SignedIn};

use super::app::PAGE;
use super::browser::{FORM_POLICY, FORM_REFERRER};
use super::cookie;
use super::extract::{Json, Path, read};
use super::openapi::{Doc, Routes};
use super::refused::Refused;
use crate::auth::Use;
use crate::page;
use crate::services::App;
use crate::services::alike::NO_TOOL;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    let page = |name, what| {
        Doc::new(name, what, NO_TOOL).refuses(&[Code::Unauthorized]).with(|draft| {
            draft.answer(200, "text/html", Some(serde_json::json!({"type": "string"})));
        })
    };
    Routes::of("host", include_str!("sign_in_examples.json"))
        .name("secret", "The secret of the link.", "3f1c9a")
        .name("token", "The invitation, as its link has it.", "eyJhbGciOiJFZERTQSJ9.e30.c2ln")
        .get("/signin/{secret}", sign_in, page("sign_in", "A page with a button that signs in."))
        .post(
            "/signin/{secret}",
            use_link,
            program(Doc::new(
                "use_sign_in_link",
                "Signs in, once: JSON is answered with JSON, a form with a cookie and the way to the page.",
                NO_TOOL,
            )),
        )
        .get("/invite/{token}", invitation, page("invitation", "A page that asks for a name."))
        .post(
            "/invite/{token}",
            accept,
            program(Doc::new("accept_invitation", "Accepts an invitation, once.", NO_TOOL)),
        )
}

/// What a program sends and is answered.
fn program(doc: Doc) -> Doc {
    doc.refuses(&[Code::Unauthorized, Code::Conflict]).with(|draft| {
        draft.any_body(serde_json::json!({
            "type": "object",
            "properties": {"display_name": {"type": ["string", "null"]}},
        }));
        draft.json::<SignedIn>(200);
        draft.answer(303, "", None);
    })
}

async fn sign_in(State(app): Host, Path(secret): Path<String>) -> Result<Response, Refused> {
    if !app.sign_ins.is_good(&secret) {
        let why =
            "this link was used, or its ten minutes are over; `chorus signin` gives a new one";
        return Err(Refusal::new(Code::Unauthorized, why).into());
    }
    Ok(shown(page::sign_in(&app.shared.workspace_name)))
}

async fn use_link(
    State(app): Host,
    Path(secret): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    asked(&app, &headers, body).await?;
    let signed_in = app.sign_ins.sign_in(&secret, used(&headers)).await?;
    answer(&app, &headers, signed_in)
}

async fn invitation(State(app): Host, Path(token): Path<String>) -> Result<Response, Refused> {
    let caller = app.sign_ins.invited(&token)?;
    let member = &*caller.member.id;
    let workspace = &app.shared.workspace_name;
    Ok(shown(page::Invitation { workspace, member, typed: member, refused: None }.html()))
}

async fn accept(
    State(app): Host,
    Path(token): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let asked = asked(&app, &headers, body).await?;
    match app.sign_ins.accept(&token, asked.display_name.clone(), used(&headers)).await {
        Ok(signed_in) => answer(&app, &headers, signed_in),
        Err(refusal) => {
            let typed = asked.display_name.filter(|_| is_form(&headers));
            Err(match typed {
                Some(typed) => form_again(&app, &token, &typed, refusal),
                None => refusal.into(),
            })
        }
    }
}

/// The form with what was typed, where that is why it was refused: the invitation is still good then.
fn form_again(app: &App, token: &str, typed: &str, refusal: Refusal) -> Refused {
    let is_about_the_name = matches!(refusal.code, Code::ValidationError | Code::Conflict);
    let Some(caller) = app.sign_ins.invited(token).ok().filter(|_| is_about_the_name) else {
        return refusal.into();
    };
    let (workspace, member) = (&*app.shared.workspace_name, &*caller.member.id);
    let html =
        page::Invitation { workspace, member, typed, refused: Some(&refusal.message) }.html();
    Refused::from(refusal).with_form(html)
}

/// What a form or a program sends.
async fn asked(app: &App, headers: &HeaderMap, body: Body) -> Result<SignIn, Refusal> {
    let bytes = read(app, headers, body).await?;
    let read = match is_form(headers) {
        true => serde_urlencoded::from_bytes(&bytes).map_err(|e| e.to_string()),
        false if bytes.is_empty() => Ok(SignIn::default()),
        false => serde_json::from_slice(&bytes).map_err(|e| e.to_string()),
    };
    read.map_err(|why| Refusal::invalid(format!("the body is not as it should be: {why}")))
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
}

/// A browser keeps a session in its cookie, a program a token.
fn used(headers: &HeaderMap) -> Use {
    if is_form(headers) { Use::Browser } else { Use::Bearer }
}

fn answer(app: &App, headers: &HeaderMap, signed_in: SignedIn) -> Result<Response, Refused> {
    if !is_form(headers) {
        return Ok(Json(signed_in).into_response());
    }
    let mut response = Redirect::to(PAGE).into_response();
    if let Some(cookie) = cookie::of_session(&signed_in.token, &app.shared.public_url) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

fn shown(html: String) -> Response {
    let policies =
        [(header::CONTENT_SECURITY_POLICY, FORM_POLICY), (header::REFERRER_POLICY, FORM_REFERRER)];
    (policies, Html(html)).into_response()
}
