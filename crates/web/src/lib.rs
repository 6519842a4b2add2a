//! The web page, embedded: what Vite built from `web/`, with compressed forms beside it.
//!
//! Names below `assets/` contain a hash of their content, so that a browser may keep them for ever. Everything else keeps
//! its name, and has an entity tag. That `dist/` is of the sources that are here is a test ([`sources`]).

pub mod sources;

use std::fmt::Write;

use sha2::{Digest, Sha256};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// One file of the page.
#[derive(Debug)]
pub struct File {
    /// Below `dist/`, such as `assets/index-3f1c9a.js`.
    pub path: &'static str,
    pub plain: &'static [u8],
    pub br: Option<&'static [u8]>,
    pub gzip: Option<&'static [u8]>,
}

impl File {
    /// Whether its name says what is in it.
    pub fn is_immutable(&self) -> bool {
        self.path.starts_with(ASSETS)
    }

    /// What a browser is told that it is.
    pub fn media_type(&self) -> &'static str {
        match self.path.rsplit('.').next().unwrap_or_default() {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "json" | "map" => "application/json",
            "webmanifest" => "application/manifest+json",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "ico" => "image/x-icon",
            "webp" => "image/webp",
            "txt" => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// A name of its content.
    pub fn tag(&self) -> String {
        hex(&Sha256::digest(self.plain)[..16])
    }
}

/// Where files are whose names say what is in them.
pub const ASSETS: &str = "assets/";

/// The file at this path below `dist/`.
pub fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

/// All of them.
pub fn files() -> &'static [File] {
    FILES
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing into a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
