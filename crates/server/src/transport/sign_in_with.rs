//! Signing in through an issuer of the settings: the browser is sent there, and comes back with a code.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use chorus_core::model::error::{Code, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::app::PAGE;
use super::browser::PAGE_POLICY;
use super::cookie;
use super::extract::{Path, Query};
use super::openapi::{Doc, Routes};
use super::refused::Refused;
use crate::page;
use crate::services::App;
use crate::services::alike::NO_TOOL;

type Host = State<Arc<App>>;

/// Longest word of the issuer that is shown, in characters.
const SHOWN: usize = 200;

pub(super) fn routes() -> Routes {
    let way = |name, what, codes: &'static [Code]| {
        Doc::new(name, what, NO_TOOL).refuses(codes).with(|draft| {
            draft.answer(303, "", None);
        })
    };
    Routes::of("host", include_str!("sign_in_with.json"))
        .name("issuer", "An issuer's name in the settings.", "corp")
        .get(
            "/signin",
            ways,
            Doc::new("ways_to_sign_in", "A page with the ways to sign in.", NO_TOOL).with(
                |draft| {
                    draft.answer(200, "text/html", Some(json!({"type": "string"})));
                },
            ),
        )
        .get(
            "/signin/with/{issuer}",
            send_out,
            way(
                "sign_in_with",
                "Sends the browser to an issuer, to sign in there.",
                &[Code::NotFound, Code::Unavailable],
            ),
        )
        .get(
            "/signin/back",
            come_back,
            way(
                "sign_in_back",
                "Takes the browser back from an issuer, and signs it in.",
                &[Code::Forbidden, Code::Unauthorized, Code::Unavailable],
            ),
        )
}

async fn ways(State(app): Host) -> Response {
    let html = page::ways_to_sign_in(&app.shared.workspace_name, app.shared.auth.ways_to_sign_in());
    ([(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(html)).into_response()
}

async fn send_out(State(app): Host, Path(issuer): Path<String>) -> Result<Response, Refused> {
    let way = app.sign_ins.send_out(&issuer).await?;
    let cookie = cookie::of_sent_out(&way.state, &app.shared.public_url);
    Ok(redirect(way.url.as_str(), [cookie]))
}

/// What an issuer sends a browser back with (RFC 6749, 4.1.2).
#[derive(Deserialize, JsonSchema)]
struct Back {
    /// What the host redeems.
    code: Option<String>,
    /// By which the host knows the browser.
    state: Option<String>,
    /// Why there is no code.
    error: Option<String>,
    /// The same, for people.
    error_description: Option<String>,
}

async fn come_back(
    State(app): Host,
    headers: HeaderMap,
    Query(back): Query<Back>,
) -> Result<Response, Refused> {
    let url = &app.shared.public_url;
    let begin_again = |why: &str| Refusal::new(Code::Unauthorized, format!("{why}; begin again"));
    let state = back.state.filter(|state| cookie::sent_out(&headers, url) == Some(state));
    let state = state
        .ok_or_else(|| begin_again("this sign-in was begun in another browser, or long ago"))?;
    if let Some(error) = back.error {
        let said = back.error_description.unwrap_or(error);
        let said: String = said.chars().take(SHOWN).collect();
        return Err(begin_again(&format!("the issuer refused: {said}")).into());
    }
    let code = back.code.ok_or_else(|| begin_again("the issuer sent no code"))?;
    let signed_in = app.sign_ins.come_back(&state, &code).await?;
    let cookies = [cookie::of_session(&signed_in.token, url), cookie::of_come_back(url)];
    Ok(redirect(PAGE, cookies))
}

fn redirect<const N: usize>(to: &str, cookies: [Option<HeaderValue>; N]) -> Response {
    let mut response = Redirect::to(to).into_response();
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
