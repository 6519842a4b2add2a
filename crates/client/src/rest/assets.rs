//! Files that messages refer to.

use chorus_wire::rest::assets::{Asset, NewAsset};
use reqwest::Method;

use crate::http::{body, with_query};
use crate::{Client, Error, Result};

impl Client {
    /// `POST /v1/assets`: a file, under a name that is no path.
    pub async fn add_asset(&self, name: &str, data: Vec<u8>) -> Result<Asset> {
        let url = with_query(self.path("v1/assets"), &NewAsset { name: name.to_owned() });
        let request = self.request(Method::POST, url);
        let request = request.header("content-type", "application/octet-stream").body(data);
        let bytes = body(self.exchange(request).await?).await?;
        serde_json::from_slice(&bytes).map_err(|e| Error::Protocol(format!("no asset: {e}")))
    }

    /// `GET /v1/assets/{id}`: its bytes, or those of its small picture.
    pub async fn asset(&self, id: &str, thumbnail: bool) -> Result<Vec<u8>> {
        let mut path = vec!["v1", "assets", id];
        path.extend(thumbnail.then_some("thumbnail"));
        body(self.exchange(self.request(Method::GET, self.url(&path))).await?).await
    }
}
