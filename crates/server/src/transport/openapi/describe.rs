//! What a handler's type says of its operation: each thing it takes and gives writes its part of a [`Draft`].

use std::future::Future;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use chorus_core::model::error::Code;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::services::App;
use crate::transport::extract::{
    Accepted, Bearer, Created, Done, Encoded, Json, Path, Query, Signed, WithToken,
};
use crate::transport::refused::Refused;

/// Reads an example as the type it is an example of. Only tests do: a host that could, would carry the code to read whatever it
/// only ever writes.
#[cfg(test)]
pub(super) type Check = fn(&Value) -> Result<(), String>;

/// One operation while it is described.
pub(in crate::transport) struct Draft<'a> {
    /// Makes the schemas of what is read, and of what is written: they differ in what is required.
    pub(super) asked: &'a mut SchemaGenerator,
    pub(super) answered: &'a mut SchemaGenerator,
    pub(super) needs_token: bool,
    /// Parameters of the query, as OpenAPI writes them.
    pub(super) query: Vec<Value>,
    pub(super) body: Option<Value>,
    /// Status, media type, schema.
    pub(super) answers: Vec<(u16, &'static str, Option<Value>)>,
    pub(super) codes: Vec<Code>,
    #[cfg(test)]
    pub(super) body_check: Option<Check>,
    #[cfg(test)]
    pub(super) answer_check: Option<Check>,
}

impl Draft<'_> {
    /// An answer; one without a media type has no body.
    pub(in crate::transport) fn answer(
        &mut self,
        status: u16,
        media: &'static str,
        schema: Option<Value>,
    ) {
        self.answers.push((status, media, schema));
    }

    /// A JSON answer of a type.
    pub(in crate::transport) fn json<T: JsonSchema + DeserializeOwned>(&mut self, status: u16) {
        let schema = self.answered.subschema_for::<T>().to_value();
        self.answer(status, "application/json", Some(schema));
        #[cfg(test)]
        {
            self.answer_check = Some(check::<T>);
        }
    }

    /// A JSON body that is not of one type.
    pub(in crate::transport) fn any_body(&mut self, schema: Value) {
        self.body = Some(schema);
        #[cfg(test)]
        {
            self.body_check = Some(|_| Ok(()));
        }
        self.codes.extend([Code::ValidationError, Code::PayloadTooLarge]);
    }

    pub(in crate::transport) fn token(&mut self) {
        self.needs_token = true;
        self.codes.push(Code::Unauthorized);
    }

    /// The parameters of a query that is read as an object.
    fn parameters(&mut self, schema: &Value) {
        self.codes.push(Code::ValidationError);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let mut property = without_null(property.clone());
            let about = property.as_object_mut().and_then(|p| p.remove("description"));
            let mut parameter = json!({
                "name": name,
                "in": "query",
                "required": required.iter().any(|r| r == name),
                "schema": property,
            });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            self.query.push(parameter);
        }
    }
}

#[cfg(test)]
fn check<T: DeserializeOwned>(example: &Value) -> Result<(), String> {
    // From text: some types keep the raw JSON, which only text has.
    serde_json::from_str::<T>(&example.to_string()).map(drop).map_err(|e| e.to_string())
}

/// Something a handler takes.
pub(in crate::transport) trait Takes {
    fn takes(draft: &mut Draft<'_>);
}

/// What says nothing to a caller.
macro_rules! unseen {
    ($($type:ty),*) => {$(
        impl Takes for $type {
            fn takes(_: &mut Draft<'_>) {}
        }
    )*};
}

unseen!(State<Arc<App>>, HeaderMap, Body, Request, Uri, Method);

impl<T> Takes for Extension<T> {
    fn takes(_: &mut Draft<'_>) {}
}

impl<E> Takes for Result<WebSocketUpgrade, E> {
    fn takes(draft: &mut Draft<'_>) {
        draft.answer(101, "", None);
    }
}

impl Takes for Bearer {
    fn takes(draft: &mut Draft<'_>) {
        draft.token();
    }
}

impl Takes for WithToken {
    fn takes(draft: &mut Draft<'_>) {
        draft.token();
    }
}

impl Takes for Signed {
    fn takes(draft: &mut Draft<'_>) {
        draft.token();
        draft.codes.push(Code::Conflict);
    }
}

/// Its names and meanings are those of the path itself ([`super::names`]).
impl<T> Takes for Path<T> {
    fn takes(draft: &mut Draft<'_>) {
        draft.codes.push(Code::ValidationError);
    }
}

impl<T: JsonSchema> Takes for Query<T> {
    fn takes(draft: &mut Draft<'_>) {
        let schema = T::json_schema(draft.asked).to_value();
        draft.parameters(&schema);
    }
}

impl<T: JsonSchema + DeserializeOwned> Takes for Json<T> {
    fn takes(draft: &mut Draft<'_>) {
        draft.body = Some(draft.asked.subschema_for::<T>().to_value());
        #[cfg(test)]
        {
            draft.body_check = Some(check::<T>);
        }
        draft.codes.extend([
            Code::ValidationError,
            Code::PayloadTooLarge,
            // A body that states another identity than the token's.
            Code::ClaimMismatch,
            Code::OutOfScopeWorkspace,
        ]);
    }
}

/// A query has no null: a parameter is there or not.
fn without_null(mut schema: Value) -> Value {
    let Some(object) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|w| !w.is_null());
    }
    if let Some(Value::Array(some)) = object.get_mut("anyOf") {
        some.retain(|s| s["type"] != "null");
        if let [Value::Object(one)] = some.as_slice() {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
    // The one default of an optional parameter is that it is absent.
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    schema
}

/// What a handler gives.
pub(in crate::transport) trait Gives {
    fn gives(draft: &mut Draft<'_>);
}

impl<T: JsonSchema + DeserializeOwned> Gives for Json<T> {
    fn gives(draft: &mut Draft<'_>) {
        draft.json::<T>(200);
    }
}

impl<T: JsonSchema + DeserializeOwned> Gives for Encoded<T> {
    fn gives(draft: &mut Draft<'_>) {
        draft.json::<T>(200);
    }
}

impl<T: JsonSchema + DeserializeOwned> Gives for Created<T> {
    fn gives(draft: &mut Draft<'_>) {
        draft.json::<T>(201);
    }
}

impl<T: JsonSchema + DeserializeOwned> Gives for Accepted<T> {
    fn gives(draft: &mut Draft<'_>) {
        draft.json::<T>(202);
    }
}

impl Gives for Done {
    fn gives(draft: &mut Draft<'_>) {
        draft.answer(204, "", None);
    }
}

impl Gives for &'static str {
    fn gives(draft: &mut Draft<'_>) {
        draft.answer(200, "text/plain", Some(json!({"type": "string"})));
    }
}

/// Says nothing: the route's `Doc` does, and a test sees to it.
impl Gives for Response {
    fn gives(_: &mut Draft<'_>) {}
}

impl<T: Gives> Gives for Result<T, Refused> {
    fn gives(draft: &mut Draft<'_>) {
        T::gives(draft);
    }
}

/// A handler that can be described; `D` are the things it takes.
pub(in crate::transport) trait Describes<D> {
    fn describe(draft: &mut Draft<'_>);
}

macro_rules! describes {
    ($($taken:ident)*) => {
        impl<F, Fut, R, $($taken: Takes,)*> Describes<($($taken,)*)> for F
        where
            F: FnOnce($($taken),*) -> Fut,
            Fut: Future<Output = R>,
            R: Gives,
        {
            // `draft` is unused where a handler takes nothing.
            fn describe(draft: &mut Draft<'_>) {
                $($taken::takes(draft);)*
                R::gives(draft);
            }
        }
    };
}

describes!();
describes!(A);
describes!(A B);
describes!(A B C);
describes!(A B C D);
describes!(A B C D E);
