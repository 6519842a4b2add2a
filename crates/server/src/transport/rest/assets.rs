//! `/v1/assets`: files in and out.
//!
//! Nothing of a file is ever run by a browser that opens it here: its type is what its bytes are and is not guessed anew
//! (`nosniff`), whatever is no picture is downloaded and not shown, and what is shown is shown without any right
//! (`Content-Security-Policy: sandbox`).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::Code;
use chorus_wire::attention::files::ReadAsset;
use chorus_wire::rest::assets::{Asset, NewAsset};
use chorus_wire::tool::Arguments;
use serde_json::json;

use crate::services::App;
use crate::services::alike::{Like, NO_TOOL, like};
use crate::transport::extract::{Bearer, Created, Path, Query};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;
use crate::view;

/// Nothing may be loaded, run, submitted or framed.
const POLICY: &str = "default-src 'none'; base-uri 'none'; sandbox; frame-ancestors 'none'";

const READS_ASSET: [Like; 1] = [like(ReadAsset::TOOL, |a| Some(a.called("id", "assetId")))];

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("assets", include_str!("examples/assets.json"))
        .name("id", "The file: `ast_…`.", "ast_0192f0c1a2b37c4d8e5f60718293a4b5")
        .post(
            "/v1/assets",
            keep,
            Doc::new(
                "add_asset",
                "Keeps a file, to be referred to in a message within a day.",
                NO_TOOL,
            )
            .with(|draft| {
                let kind = "application/octet-stream";
                draft.any_body(json!({"type": "string", "contentMediaType": kind}));
            }),
        )
        .get(
            "/v1/assets/{id}",
            give,
            Doc::new(
                "get_asset",
                "The bytes of a file that the caller brought, or may see a message with.",
                READS_ASSET,
            )
            .refuses(&[Code::NotFound])
            .with(|draft| {
                // Of whatever type its bytes are.
                let schema =
                    json!({"type": "string", "contentMediaType": "application/octet-stream"});
                draft.answer(200, "*/*", Some(schema));
            }),
        )
        .get(
            "/v1/assets/{id}/thumbnail",
            small,
            Doc::new("get_thumbnail", "A small picture of a picture.", READS_ASSET)
                .refuses(&[Code::NotFound])
                .with(|draft| {
                    let kind = "image/jpeg";
                    draft.answer(
                        200,
                        kind,
                        Some(json!({"type": "string", "contentMediaType": kind})),
                    );
                }),
        )
}

async fn keep(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(new): Query<NewAsset>,
    headers: HeaderMap,
    body: Body,
) -> Result<Created<Asset>, Refused> {
    let whole = app.assets.take_in(&caller, &new.name, &headers, body).await?;
    let stated = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kept = app.assets.keep_whole(caller.by, &new.name, stated, whole).await?;
    Ok(Created(view::assets::asset(&app.directory(), &kept)))
}

async fn give(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let (asset, data) = app.assets.asset(&caller, &id).await?;
    let how = if asset.media.is_image() { "inline" } else { "attachment" };
    let named = format!("{how}; filename*=UTF-8''{}", encoded(&asset.name));
    Ok(served(asset.media.name(), &named, data))
}

async fn small(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let data = app.assets.thumbnail(&caller, &id).await?;
    Ok(served("image/jpeg", "inline", data))
}

fn served(media: &'static str, disposition: &str, data: Vec<u8>) -> Response {
    let disposition =
        HeaderValue::from_str(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    (headers, data).into_response()
}

/// A name as a header has it (RFC 5987): what is not plain is percent-encoded.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
