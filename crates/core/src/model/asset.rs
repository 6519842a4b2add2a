//! Files that messages refer to: accepted types, names, and references.
//!
//! The type of a file is determined by its bytes, not by its name or the sender's statement. A
//! reference is part of a message, so the rows that count references can always be rebuilt from the
//! log.

use std::sync::Arc;

use crate::model::error::Refusal;
use crate::model::event::{Hash, Message};
use crate::model::ids::{MemberKey, Prefix, Seq, Timestamp, Uid};
use crate::model::limits::FILE_NAME_BYTES;

/// Pinned files are recorded like references of messages, under a seq that no event has.
pub const PINNED: Seq = Seq(0);

/// A file that the host keeps.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Asset {
    pub uid: Uid,
    /// SHA-256 of its bytes. Files with the same bytes are stored once.
    pub hash: Hash,
    #[redact(fixed = 3)]
    pub name: Arc<str>,
    pub media: Media,
    pub bytes: u64,
    /// Who uploaded it.
    pub by: MemberKey,
    pub at: Timestamp,
}

/// What stands before the name of an object that has the bytes of a file, in their place. No file that is
/// accepted begins so.
pub const OBJECT: &[u8] = b"\0object\0";

/// The name of the object that has the bytes of a file, where `data` says that and is not the bytes.
pub fn object(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data.strip_prefix(OBJECT)?).ok()
}

/// What stands in place of the bytes of a file that an object has.
pub fn in_object(name: &str) -> Arc<[u8]> {
    [OBJECT, name.as_bytes()].concat().into()
}

/// A file with its bytes, or the name of the object that has them, to be written.
#[derive(Clone, veil::Redact)]
pub struct Kept {
    pub asset: Arc<Asset>,
    #[redact(fixed = 3)]
    pub data: Arc<[u8]>,
    /// Its thumbnail, as JPEG; empty where none can be made.
    pub thumbnail: Option<Arc<[u8]>>,
}

/// The kinds of files that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    Png,
    Jpeg,
    Gif,
    Webp,
    Pdf,
    Zip,
    Gzip,
    /// Any UTF-8 text, including HTML and SVG, which are only ever served as text.
    Text,
}

impl Media {
    pub const ALL: [Self; 8] = [
        Self::Png,
        Self::Jpeg,
        Self::Gif,
        Self::Webp,
        Self::Pdf,
        Self::Zip,
        Self::Gzip,
        Self::Text,
    ];

    /// The media type it is served with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
            Self::Zip => "application/zip",
            Self::Gzip => "application/gzip",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    /// An image that a browser may show inline.
    pub fn is_image(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::Gif | Self::Webp)
    }

    /// The kind of these bytes; none if it is not accepted.
    pub fn of(data: &[u8]) -> Option<Self> {
        let begins = |with: &[u8]| data.starts_with(with);
        Some(match data {
            [] => return None,
            _ if begins(b"\x89PNG\r\n\x1a\n") => Self::Png,
            _ if begins(b"\xff\xd8\xff") => Self::Jpeg,
            _ if begins(b"GIF87a") || begins(b"GIF89a") => Self::Gif,
            _ if begins(b"RIFF") && data.get(8..12) == Some(b"WEBP") => Self::Webp,
            _ if begins(b"%PDF-") => Self::Pdf,
            _ if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") => Self::Zip,
            _ if begins(b"\x1f\x8b") => Self::Gzip,
            _ => {
                let text = std::str::from_utf8(data).ok()?;
                let odd =
                    |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b');
                if text.contains(odd) {
                    return None;
                }
                Self::Text
            }
        })
    }

    /// Whether the sender may state this media type.
    pub fn fits(self, stated: &str) -> bool {
        let stated = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let binary = |media: &Self| *media != Self::Text && media.name() == stated;
        match self {
            _ if stated == "application/octet-stream" => true,
            Self::Jpeg if stated == "image/jpg" => true,
            Self::Zip => {
                let known = [
                    "application/x-zip-compressed",
                    "application/java-archive",
                    "application/epub+zip",
                ];
                stated == self.name()
                    || known.contains(&&*stated)
                    || stated.starts_with("application/vnd.")
            }
            Self::Gzip if stated == "application/x-gzip" => true,
            // Any textual type, except those that stand for something else.
            Self::Text => {
                let picture = stated.starts_with("image/") && stated != "image/svg+xml";
                let medium = ["audio/", "video/", "font/"].iter().any(|m| stated.starts_with(m));
                !picture && !medium && !Self::ALL.iter().any(binary)
            }
            _ => stated == self.name(),
        }
    }
}

/// Validates the name of a file. It must not be a path.
pub fn file_name(name: &str) -> Result<Arc<str>, Refusal> {
    let path = name.contains(['/', '\\']) || name == "." || name == "..";
    // Bidirectional controls make one file extension look like another.
    let turning = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let odd = name.chars().any(|c| c.is_control() || turning(c));
    if path || odd || name.trim().is_empty() || name.len() > FILE_NAME_BYTES {
        return Err(Refusal::invalid(format!(
            "the name of a file is one line of 1 to {FILE_NAME_BYTES} bytes, and no path"
        )));
    }
    Ok(name.trim().into())
}

impl Message {
    /// The number of bytes of its texts.
    pub fn bytes(&self) -> usize {
        let json = [self.parts.as_ref(), self.metadata.as_ref(), self.source.as_ref()];
        self.text.len() + json.into_iter().flatten().map(|json| json.len()).sum::<usize>()
    }

    /// The files that it refers to. Its parts are canonical JSON, where these characters are
    /// unambiguous: within a string, quotation marks would be escaped.
    pub fn assets(&self) -> Vec<Uid> {
        let mut found = Vec::new();
        let parts = self.parts.as_deref().unwrap_or_default();
        for rest in parts.split("\"asset_id\":\"").skip(1) {
            let id = rest.split('"').next().and_then(|id| Uid::read(Prefix::Asset, id));
            found.extend(id.filter(|id| !found.contains(id)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    // covers: CHN-143
    #[test]
    fn what_a_file_is_its_bytes_say() {
        let webp = b"RIFF\x10\0\0\0WEBPVP8 ";
        for (data, media) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some(Media::Png)),
            (b"\xff\xd8\xff\xe0", Some(Media::Jpeg)),
            (b"GIF89a", Some(Media::Gif)),
            (webp, Some(Media::Webp)),
            (b"RIFF\x10\0\0\0WAVE", None),
            (b"%PDF-1.7", Some(Media::Pdf)),
            (b"PK\x03\x04", Some(Media::Zip)),
            (b"\x1f\x8b\x08", Some(Media::Gzip)),
            ("Grüße\n".as_bytes(), Some(Media::Text)),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Some(Media::Text)),
            (b"\x7fELF\x02\x01", None),
            (b"MZ\x90\0", None),
            (b"\xff\xfe", None),
            (b"a\0b", None),
            (b"", None),
        ] {
            assert_eq!(Media::of(data), media, "{data:?}");
        }
        for (media, stated, fits) in [
            (Media::Png, "image/png", true),
            (Media::Png, "IMAGE/PNG; x=y", true),
            (Media::Png, "image/jpeg", false),
            (Media::Png, "text/plain", false),
            (Media::Jpeg, "image/jpg", true),
            (Media::Text, "image/png", false),
            (Media::Text, "image/svg+xml", true),
            (Media::Text, "application/json", true),
            (Media::Text, "application/pdf", false),
            (Media::Text, "video/mp4", false),
            (
                Media::Zip,
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                true,
            ),
            (Media::Gzip, "application/octet-stream", true),
        ] {
            assert_eq!(media.fits(stated), fits, "{media:?} {stated}");
        }
    }

    // covers: CHN-142
    #[test]
    fn the_name_of_a_file_is_no_path() {
        for (name, kept) in [
            ("notes.txt", Some("notes.txt")),
            (" Grüße 東京.png ", Some("Grüße 東京.png")),
            ("..x", Some("..x")),
            ("../x", None),
            ("..", None),
            (".", None),
            ("a/b", None),
            ("a\\b", None),
            ("C:\\x", None),
            ("", None),
            ("  ", None),
            ("a\nb", None),
            ("a\0b", None),
            ("exe\u{202e}gpj.exe", None),
            (&"x".repeat(FILE_NAME_BYTES + 1), None),
        ] {
            assert_eq!(file_name(name).ok().as_deref(), kept, "{name:?}");
        }
    }

    #[test]
    fn references_are_found_in_parts_and_nowhere_in_texts() {
        let id = Uid(0x0199_aabb_0000_7000_8000_0000_0000_0001);
        let shown = id.show(Prefix::Asset);
        let assets =
            |parts: &str| Message { parts: Some(parts.into()), ..Message::default() }.assets();
        let twice = format!(
            r#"[{{"asset_id":"{shown}","type":"asset"}},{{"asset_id":"{shown}","type":"asset"}}]"#
        );
        assert_eq!(assets(&twice), [id]);
        let said = format!(r#"[{{"text":"\"asset_id\":\"{shown}\"","type":"text"}}]"#);
        assert_eq!(assets(&said), []);
        assert_eq!(assets(r#"[{"asset_id":"ast_1","type":"asset"}]"#), []);
        assert_eq!(Message::default().assets(), []);
    }
}
