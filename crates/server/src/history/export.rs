//! Writing a history: everybody, then conversation by conversation, and a signature over all of it.

use std::io::{self, Write};
use std::sync::Arc;

use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_store::Place;
use chorus_store::history::{Reading, Snapshot};

use super::error::ExportError;
use super::field::Bytes;
use super::lines::{self, Counts, End, Header, Line, Out};
use super::{FORMAT, FORMAT_WITHOUT_MARKET, Signing};
use crate::objects::{self, Objects};

/// What was exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    pub counts: Counts,
}

type Result<T> = std::result::Result<T, ExportError>;

/// Writes the history that a place holds, with a host on it or without, as of one moment. `objects` has the bytes of files
/// that are not in the database.
pub fn export(
    place: &Place,
    sign: &Signing,
    now: Timestamp,
    objects: Option<Arc<Objects>>,
    out: &mut dyn Write,
) -> Result<Exported> {
    let mut reading = Reading::open(place, objects::of(&objects))?;
    let snapshot = reading.snapshot()?;
    let header = header(&snapshot, form(&reading)?, sign, now)?;
    out.write_all(&header)?;
    let mut out = Out::new(out);
    lines::export(&mut out, &reading, &snapshot)?;
    let (counts, out, sha256) = out.end();
    let signature = Bytes::of(&sign.sign(&header, &sha256));
    let end = Line::End(End { counts, sha256: Bytes::of(&sha256), signature });
    out.write_all(&json(&end)?)?;
    out.flush()?;
    Ok(Exported { counts })
}

/// The oldest form that has all the lines there are, so that older programs read what they can.
fn form(reading: &Reading) -> Result<u32> {
    let has_market =
        !reading.agents(Uid::default())?.is_empty() || !reading.accounts("")?.is_empty();
    Ok(if has_market { FORMAT } else { FORMAT_WITHOUT_MARKET })
}

fn header(snapshot: &Snapshot, format: u32, sign: &Signing, now: Timestamp) -> Result<Vec<u8>> {
    json(&Line::Header(Header {
        format,
        workspace_id: snapshot.tenant.uid.show(Prefix::Workspace),
        workspace: snapshot.tenant.name.to_string(),
        lead: snapshot.tenant.lead.map(|l| l.0),
        exported_at: chorus_wire::time::format(now),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        key: Bytes::of(&sign.key()),
    }))
}

fn json(line: &Line<'_>) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
    bytes.push(b'\n');
    Ok(bytes)
}
