//! Copies of a whole workspace. They may be larger than memory, so they are handed on piece by piece.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use crate::http::{body, read, refusal};
use crate::{Client, Error, Result};

/// Longest wait for a copy to begin: the host makes it first, and checks it.
const MADE: Duration = Duration::from_secs(3_600);
/// Longest silence while it comes.
const SILENCE: Duration = Duration::from_secs(60);

impl Client {
    /// `POST /v1/backups`. `each` is given the file in order; says how many bytes there were.
    pub async fn backup<E>(
        &self,
        each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<u64, E>> {
        self.copy(Method::POST, self.path("v1/backups"), each).await
    }

    /// `GET /v1/export`. `each` is given the lines in order, cut anywhere; says how many bytes there were.
    pub async fn export<E>(
        &self,
        each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<u64, E>> {
        self.copy(Method::GET, self.path("v1/export"), each).await
    }

    /// What reads or writes all of a copy before it answers.
    pub(super) async fn made<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let bytes = body(self.begun(request).await?).await?;
        serde_json::from_slice(&bytes).map_err(|e| Error::Protocol(e.to_string()))
    }

    async fn begun(&self, request: RequestBuilder) -> Result<Response> {
        let sent = tokio::time::timeout(MADE, request.send()).await;
        let sent = sent.map_err(|_| Error::unreachable(self.base_url(), "no answer in time"))?;
        sent.map_err(|e| Error::exchange(self.base_url(), &e))
    }

    pub(super) async fn copy<E>(
        &self,
        method: Method,
        url: Url,
        mut each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<u64, E>> {
        let mut answer = self.begun(self.request(method, url)).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            return Err(refusal(status, &read(answer).await?));
        }
        let expected = answer.content_length();
        let mut count = 0;
        while let Some(chunk) = self.chunk(&mut answer).await? {
            count += chunk.len() as u64;
            if let Err(error) = each(&chunk) {
                return Ok(Err(error));
            }
        }
        if expected.is_some_and(|expected| expected != count) {
            return Err(Error::unreachable(self.base_url(), "the copy broke off"));
        }
        Ok(Ok(count))
    }

    async fn chunk(&self, answer: &mut Response) -> Result<Option<Vec<u8>>> {
        let chunk = tokio::time::timeout(SILENCE, answer.chunk()).await;
        let chunk = chunk.map_err(|_| Error::unreachable(self.base_url(), "the copy stopped"))?;
        let chunk = chunk.map_err(|e| Error::exchange(self.base_url(), &e))?;
        Ok(chunk.map(|bytes| bytes.to_vec()))
    }
}
