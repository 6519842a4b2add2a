//! Canonical JSON: keys sorted by their bytes, no whitespace, no duplicate keys, bounded depth and
//! size.
//!
//! Metadata is made canonical once, at the edge (design section 3). Inside the host it is opaque
//! text, so that equal metadata has equal bytes and equal hashes.

use std::collections::BTreeMap;
use std::fmt;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::limits;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use serde_json::value::RawValue;

/// Maximum nesting of arrays and objects.
pub const DEPTH: usize = 32;

/// Makes the metadata of a message canonical. It must be an object of at most
/// [`limits::METADATA_BYTES`] in canonical form.
pub fn metadata(json: &RawValue) -> Result<String, Refusal> {
    if !json.get().starts_with('{') {
        return Err(Refusal::invalid("metadata must be a JSON object"));
    }
    canonical_json(json.get(), limits::METADATA_BYTES)
}

/// Makes any JSON canonical, with at most `max_bytes` in canonical form.
pub fn canonical_json(json: &str, max_bytes: usize) -> Result<String, Refusal> {
    // Whitespace may make the input longer than what it says, but not without end.
    if json.len() > max_bytes.saturating_mul(4) {
        return Err(too_large(max_bytes));
    }
    let mut input = serde_json::Deserializer::from_str(json);
    let tree = Depth(DEPTH).deserialize(&mut input).and_then(|tree| input.end().map(|()| tree));
    let tree = tree.map_err(|e| Refusal::invalid(format!("invalid JSON: {e}")))?;
    let text = serde_json::to_string(&tree)
        .map_err(|e| Refusal::new(Code::Internal, format!("could not serialize JSON: {e}")))?;
    if text.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    Ok(text)
}

fn too_large(max_bytes: usize) -> Refusal {
    Refusal::new(Code::PayloadTooLarge, format!("at most {max_bytes} bytes of canonical JSON"))
}

enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => out.serialize_unit(),
            Self::Bool(value) => out.serialize_bool(*value),
            Self::Number(value) => value.serialize(out),
            Self::Text(value) => out.serialize_str(value),
            Self::List(values) => values.serialize(out),
            Self::Object(values) => {
                let mut map = out.serialize_map(Some(values.len()))?;
                for (key, value) in values {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// Reads a tree of at most this many more levels.
#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let left = self.0.checked_sub(1);
        left.map(Self).ok_or_else(|| E::custom(format_args!("deeper than {DEPTH} levels")))
    }
}

impl<'de> DeserializeSeed<'de> for Depth {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Tree, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Number::from_f64(value).map(Tree::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let deeper = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(deeper)? {
            values.push(value);
        }
        Ok(Tree::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let deeper = self.deeper()?;
        let mut values = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(deeper)?;
            // Two readers could take different ones; which was meant is not ours to guess.
            if values.insert(key, value).is_some() {
                return Err(A::Error::custom("a key occurs twice in one object"));
            }
        }
        Ok(Tree::Object(values))
    }
}
