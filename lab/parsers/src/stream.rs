//! The values of a callback's body, as they come.

use chorus_core::model::error::Code;
use chorus_server::parsers::callback_body;

/// However a body is cut into pieces on its way, the same comes out of it. The first byte says how large the pieces are.
pub fn ndjson(data: &[u8]) {
    let Some((size, body)) = data.split_first() else { return };
    let pieces: Vec<&[u8]> = body.chunks(usize::from(*size).max(1)).collect();
    let whole = callback_body(&[body]);
    assert_eq!(callback_body(&pieces), whole);
    let (values, ended) = whole;
    assert_ne!(ended, Some(Code::Internal));
    assert!(values.iter().map(Vec::len).sum::<usize>() <= body.len());
    assert!(values.iter().all(|value| !value.trim_ascii().is_empty()));
}
