//! The words of core's enums, for serde: `#[serde(with = "words::one")]`, `words::option`, `words::list`.
//!
//! Core gives the names, but for the two kinds it never shows. An unknown word is an error that lists the known ones.
//! Beside `with = "words::one"` a field says its schema: `#[schemars(with = "words::As<Policy>")]`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use chorus_core::model::approval::Standing;
use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Visibility};
use chorus_core::model::delivery::Disposition;
use chorus_core::model::event::{MessageKind, Reason};
use chorus_core::model::member::MemberKind;
use chorus_core::model::project::TaskState;
use chorus_core::model::reaction::Signal;
use chorus_core::model::schedule::Fired;
use chorus_core::model::stimulus::{StimulusKind, StimulusState};
use chorus_core::model::thread::work::{BindingKind, WorkStatus};
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An enum of core whose values are words.
pub trait Word: Copy + 'static {
    /// What the word is, for messages: "a policy".
    const WHAT: &'static str;
    /// Every value, in the order of the spec.
    const WORDS: &'static [Self];

    fn word(self) -> &'static str;

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().copied().find(|value| value.word() == word)
    }
}

macro_rules! word {
    ($($type:ty: $what:literal),* $(,)?) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;
            const WORDS: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

word! {
    Authority: "token role",
    BindingKind: "kind of binding",
    ConversationKind: "conversation kind",
    Directedness: "directedness",
    Disposition: "disposition",
    Intent: "intent",
    MessageKind: "message kind",
    Mode: "injection mode",
    Participation: "participation",
    Policy: "policy",
    Priority: "priority",
    Reason: "reason",
    Signal: "signal",
    Standing: "approval state",
    Fired: "result of a firing",
    StimulusKind: "kind of stimulus",
    StimulusState: "state of a stimulus",
    TaskState: "state of a task",
    ThreadKind: "thread type",
    ThreadStatus: "thread status",
    WorkStatus: "work status",
}

impl Word for MemberKind {
    const WHAT: &'static str = "member kind";
    const WORDS: &'static [Self] = &[Self::Human, Self::Agent];

    fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

impl Word for Visibility {
    const WHAT: &'static str = "channel visibility";
    const WORDS: &'static [Self] = &[Self::Public, Self::Private];

    fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

impl Word for Replies {
    const WHAT: &'static str = "place of replies";
    const WORDS: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.name()
    }
}

/// The message for a word that is none: it names those that are.
pub fn unknown<W: Word>(word: &str) -> String {
    let known: Vec<_> = W::WORDS.iter().map(|value| value.word()).collect();
    // What was sent may be anything and long; it is shown shortened and escaped.
    let shown: String = word.chars().take(40).collect();
    format!("unknown {} {shown:?}; known: {}", W::WHAT, known.join(", "))
}

/// A word as a value of its own, for maps, lists and query strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct As<W>(pub W);

impl<W: Word> Serialize for As<W> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.0.word())
    }
}

impl<'de, W: Word> Deserialize<'de> for As<W> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(WordVisitor(PhantomData)).map(As)
    }
}

impl<W: Word> JsonSchema for As<W> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        W::WHAT.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = W::WORDS.iter().map(|value| value.word()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

struct WordVisitor<W>(PhantomData<W>);

impl<W: Word> Visitor<'_> for WordVisitor<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(W::WHAT)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<W, E> {
        W::from_word(word).ok_or_else(|| E::custom(unknown::<W>(word)))
    }
}

/// For a field that is one word.
pub mod one {
    use super::*;

    pub fn serialize<W: Word, S: Serializer>(value: &W, out: S) -> Result<S::Ok, S::Error> {
        As(*value).serialize(out)
    }

    pub fn deserialize<'de, W: Word, D: Deserializer<'de>>(input: D) -> Result<W, D::Error> {
        As::deserialize(input).map(|word| word.0)
    }
}

/// For a field that may be absent; also put `default` and `skip_serializing_if` on it.
pub mod option {
    use super::*;

    pub fn serialize<W: Word, S: Serializer>(value: &Option<W>, out: S) -> Result<S::Ok, S::Error> {
        value.map(As).serialize(out)
    }

    pub fn deserialize<'de, W: Word, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Option<W>, D::Error> {
        Ok(Option::<As<W>>::deserialize(input)?.map(|word| word.0))
    }
}

/// For a list of words.
pub mod list {
    use super::*;

    pub fn serialize<W: Word, S: Serializer>(values: &[W], out: S) -> Result<S::Ok, S::Error> {
        let mut seq = out.serialize_seq(Some(values.len()))?;
        for value in values {
            seq.serialize_element(&As(*value))?;
        }
        seq.end()
    }

    pub fn deserialize<'de, W: Word, D: Deserializer<'de>>(input: D) -> Result<Vec<W>, D::Error> {
        let words = Vec::<As<W>>::deserialize(input)?;
        Ok(words.into_iter().map(|word| word.0).collect())
    }
}

/// Text borrowed where a message is written and owned where it is read.
pub type Text<'a> = Cow<'a, str>;
