//! `POST /v1/backups`: everything, as one file; `GET /v1/export`: the history, as lines of JSON. For operators
//! alone.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use futures_util::stream;
use serde_json::json;

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::Bearer;
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

/// Bytes read at a time.
const CHUNK: usize = 256 * 1024;

pub(super) fn routes() -> Routes {
    Routes::of("host", include_str!("examples/copies.json"))
        .post(
            "/v1/backups",
            back_up,
            Doc::new("back_up", "A copy of everything, as one file; for operators alone.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority])
                .with(|draft| {
                    let kind = "application/vnd.sqlite3";
                    let file = json!({"type": "string", "contentMediaType": kind});
                    draft.answer(200, kind, Some(file));
                }),
        )
        .get(
            "/v1/export",
            export,
            Doc::new(
                "export",
                "The history of everything as lines of JSON; for operators alone.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority])
            .with(|draft| {
                let lines = json!({"type": "string", "contentMediaType": "application/x-ndjson"});
                draft.answer(200, "application/x-ndjson", Some(lines));
            }),
        )
}

async fn back_up(State(app): State<Arc<App>>, Bearer(caller): Bearer) -> Result<Response, Refused> {
    Ok(sent(app.copies.back_up(&caller).await?)?)
}

/// A copy, with its length.
pub(super) fn sent(file: File) -> Result<Response, Refusal> {
    let length = file.metadata().map_err(|e| Refusal::new(Code::Unavailable, e.to_string()))?.len();
    let headers = [
        (header::CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    Ok((headers, whole(file)).into_response())
}

async fn export(State(app): State<Arc<App>>, Bearer(caller): Bearer) -> Result<Response, Refused> {
    let pieces = app.copies.export(&caller)?;
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    let body = stream::unfold(pieces, |mut pieces| async {
        let piece = pieces.recv().await?;
        Some((piece, pieces))
    });
    Ok((headers, Body::from_stream(body)).into_response())
}

/// The file, piece by piece; the disk is waited for elsewhere.
fn whole(file: File) -> Body {
    Body::from_stream(stream::unfold(Some(file), |file| async {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; CHUNK];
            let count = file.read(&mut bytes)?;
            bytes.truncate(count);
            Ok((Bytes::from(bytes), file))
        });
        match read.await.unwrap_or_else(|e| Err(std::io::Error::other(e))) {
            Ok((bytes, _)) if bytes.is_empty() => None,
            Ok((bytes, file)) => Some((Ok(bytes), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}
