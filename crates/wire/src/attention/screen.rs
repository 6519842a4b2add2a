//! The screen of a program that a runner keeps, while somebody looks at it (spec/attention.md,
//! section 16a).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// `session/watch`, host to runner, a notification: for so long from now its program's screen is
/// looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Watch {
    pub for_ms: u32,
}

/// `notifications/screen`, runner to host, a notification: what the screen shows now. It is kept nowhere.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    pub columns: u16,
    pub rows: u16,
    /// From the top; empty lines at the end are left out. Absent while the program sleeps, and where
    /// its user shows it to nobody.
    #[redact(fixed = 3)]
    pub lines: Option<Vec<Vec<Span>>>,
    /// Absent where the program hides it.
    pub cursor: Option<Place>,
    /// Its user shows it to nobody: `chorus run --private`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub private: bool,
}

/// Text of one look.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Span {
    #[redact(fixed = 3)]
    pub text: String,
    /// The terminal's own where it is absent.
    pub color: Option<Color>,
    pub background: Option<Color>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub bold: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub dim: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub italic: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub underline: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub inverse: bool,
}

/// A color of the terminal's palette by its number, or red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Color {
    Indexed(u8),
    Rgb([u8; 3]),
}

/// Counted from 0, from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub row: u16,
    pub column: u16,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
