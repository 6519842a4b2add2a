//! What a tool runs, and on whose behalf.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::jsonrpc;
use chorus_wire::tool::{Arguments, Tool};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::auth::{Caller, disagreement};
use crate::services::App;
use crate::services::alike::Like;

/// On whose behalf a tool is called.
#[derive(Clone, Copy)]
pub(in crate::transport) struct Asking<'a> {
    pub app: &'a Arc<App>,
    pub caller: &'a Caller,
    /// How it wants signals shown.
    pub glyphs: Option<&'a Glyphs>,
}

/// What a tool gave or why it refused, MCP-shaped: the same JSON as text and as structured content, written
/// once.
pub(in crate::transport) struct Given {
    pub json: Box<RawValue>,
    pub is_error: bool,
}

impl Given {
    pub(in crate::transport) fn of<T: Serialize>(
        value: &T,
        is_error: bool,
    ) -> Result<Self, Refusal> {
        let json = to_raw_value(value)
            .map_err(|e| Refusal::new(Code::Internal, format!("an answer is no JSON: {e}")))?;
        Ok(Self { json, is_error })
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        let text = [Text { r#type: "text", text: self.json.get() }];
        let mut given = out.serialize_struct("CallResult", 3)?;
        given.serialize_field("content", &text)?;
        given.serialize_field("structuredContent", &*self.json)?;
        given.serialize_field("isError", &self.is_error)?;
        given.end()
    }
}

/// A call under way.
pub(super) type Running<'a, R> = Pin<Box<dyn Future<Output = Result<R, Refusal>> + Send + 'a>>;

type Run = dyn for<'a> Fn(Asking<'a>, Option<&'a RawValue>) -> Running<'a, Given> + Send + Sync;

/// What runs when a tool is called.
pub(super) struct Handler {
    /// The other tools that do what this one does: one of them that is sensitive makes this one so.
    pub(super) same: Vec<Like>,
    pub(super) run: Box<Run>,
}

/// The handlers of tools, by the tool's name.
#[derive(Default)]
pub(super) struct Handlers(BTreeMap<&'static str, Handler>);

impl Handlers {
    /// The handler of the tool whose arguments are an `A`.
    pub(super) fn tool<A: Arguments + Send + 'static>(
        mut self,
        same: impl Into<Vec<Like>>,
        run: for<'a> fn(Asking<'a>, A) -> Running<'a, A::Result>,
    ) -> Self {
        let run: Box<Run> = Box::new(move |asking, raw| {
            Box::pin(async move {
                let arguments = read(&asking, raw)?;
                Given::of(&run(asking, arguments).await?, false)
            })
        });
        let before = self.0.insert(A::TOOL.name, Handler { same: same.into(), run });
        debug_assert!(before.is_none(), "{} has two handlers", A::TOOL.name);
        self
    }

    /// Puts other handlers beside these.
    pub(super) fn merge(mut self, other: Self) -> Self {
        for (name, handler) in other.0 {
            let before = self.0.insert(name, handler);
            debug_assert!(before.is_none(), "{name} has two handlers");
        }
        self
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    pub(super) fn of(&self, tool: &Tool) -> Result<&Handler, Refusal> {
        self.0.get(tool.name).ok_or_else(|| {
            Refusal::new(Code::Internal, format!("the tool {} has no handler", tool.name))
        })
    }
}

fn read<T: Arguments>(asking: &Asking<'_>, raw: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(raw).map_err(|why| {
        let invalid = || Refusal::invalid(format!("the arguments: {why}"));
        if T::TOOL.caller_fields.is_none() {
            return invalid();
        }
        let text = raw.map_or("{}", RawValue::get);
        let disagrees = disagreement(asking.caller, asking.app.identity.workspace(), text);
        disagrees.unwrap_or_else(invalid)
    })
}
