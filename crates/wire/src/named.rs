//! Core's enums on the wire: each value has a name, and JSON has the name.
//!
//! Core types do not serialize. A field that holds one of its enums has the type [`Named`], which
//! reads and writes the name and gives the list of names as its schema. Core chooses the names,
//! except for the two kinds of member and the two visibilities. An unknown name is an error that
//! lists the known ones.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use chorus_core::model::approval::Standing;
use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Visibility};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::event::{MessageKind, Reason};
use chorus_core::model::member::{MemberKind, SessionStatus};
use chorus_core::model::project::TaskState;
use chorus_core::model::reaction::Signal;
use chorus_core::model::schedule::Fired;
use chorus_core::model::stimulus::{StimulusKind, StimulusState};
use chorus_core::model::thread::work::{BindingKind, WorkStatus};
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::model::wake::{Lane, ReportResult};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An enum of core whose values have names on the wire.
pub trait NamedEnum: Copy + 'static {
    /// What a value is called in error messages: "policy".
    const WHAT: &'static str;
    /// Every value, in the order of the spec.
    const VALUES: &'static [Self];

    fn name(self) -> &'static str;

    fn from_name(name: &str) -> Option<Self> {
        Self::VALUES.iter().copied().find(|value| value.name() == name)
    }
}

/// The names of all values, in the order of the spec.
pub fn names<E: NamedEnum>() -> Vec<&'static str> {
    E::VALUES.iter().map(|value| value.name()).collect()
}

macro_rules! named {
    ($($type:ty: $what:literal),* $(,)?) => {$(
        impl NamedEnum for $type {
            const WHAT: &'static str = $what;
            const VALUES: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                <$type>::name(self)
            }
        }
    )*};
}

named! {
    Authority: "token role",
    BindingKind: "kind of binding",
    ConversationKind: "conversation kind",
    Directedness: "directedness",
    Disposition: "disposition",
    Intent: "intent",
    Lane: "lane",
    MessageKind: "message kind",
    Mode: "injection mode",
    Participation: "participation",
    Policy: "policy",
    Priority: "priority",
    Reason: "reason",
    Replies: "place of replies",
    ReportResult: "result",
    SessionStatus: "session status",
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

impl NamedEnum for MemberKind {
    const WHAT: &'static str = "member kind";
    const VALUES: &'static [Self] = &[Self::Human, Self::Agent];

    fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

impl NamedEnum for Visibility {
    const WHAT: &'static str = "channel visibility";
    const VALUES: &'static [Self] = &[Self::Public, Self::Private];

    fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// The error message for an unknown name. It lists the known ones.
pub fn unknown<E: NamedEnum>(name: &str) -> String {
    // The text may be long and hold anything, so it is shortened and escaped.
    let shown: String = name.chars().take(40).collect();
    format!("unknown {} {shown:?}; known: {}", E::WHAT, names::<E>().join(", "))
}

/// A value that is its name in JSON, in query strings and in schemas.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Named<E>(pub E);

impl<E> From<E> for Named<E> {
    fn from(value: E) -> Self {
        Self(value)
    }
}

impl<E> Deref for Named<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E: PartialEq> PartialEq<E> for Named<E> {
    fn eq(&self, other: &E) -> bool {
        self.0 == *other
    }
}

impl<E: fmt::Debug> fmt::Debug for Named<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: NamedEnum> Serialize for Named<E> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.0.name())
    }
}

impl<'de, E: NamedEnum> Deserialize<'de> for Named<E> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(NameVisitor(PhantomData)).map(Self)
    }
}

impl<E: NamedEnum> JsonSchema for Named<E> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        E::WHAT.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": names::<E>()})
    }
}

struct NameVisitor<E>(PhantomData<E>);

impl<E: NamedEnum> Visitor<'_> for NameVisitor<E> {
    type Value = E;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(E::WHAT)
    }

    fn visit_str<F: de::Error>(self, name: &str) -> Result<E, F> {
        E::from_name(name).ok_or_else(|| F::custom(unknown::<E>(name)))
    }
}
