//! One file a day with the signed ends of all chains, in the folder `heads` beside the database.
//!
//! A chain cannot show that its tail was cut off, and a database that was put back is whole in itself. What was
//! signed on an earlier day must still be there: [`verify`] looks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_store::doctor::{Problem, Recorded, Report, Sealed, check_heads, doctor, sealed};
use chorus_store::{OpenError, Place};
use chorus_wire::rest::audit::{Head, SignedHeads};
use tokio::sync::watch;

use super::{StartError, first};
use crate::auth::{Keys, Vault, check_heads_signature, write_private};
use crate::services::App;

const FOLDER: &str = "heads";
/// How often it is looked whether a new day has begun.
const LOOK: Duration = Duration::from_secs(60);

/// Keeps a record of each day until the host stops.
pub(super) async fn keep(app: Arc<App>, data: PathBuf, mut stopped: watch::Receiver<bool>) {
    loop {
        let stops = stopped.wait_for(|stopped| *stopped);
        if tokio::time::timeout(LOOK, stops).await.is_ok() {
            return;
        }
        look(&app, &data).await;
    }
}

/// Records the day when it is not. The host works without.
pub(super) async fn look(app: &App, data: &Path) {
    if let Err(why) = record(app, data).await {
        tracing::warn!(%why, "the ends of the chains were not recorded; it is tried again");
    }
}

/// Writes today's file, unless it is there.
async fn record(app: &App, data: &Path) -> Result<(), Refusal> {
    let failed = |why: std::io::Error| Refusal::new(Code::Unavailable, why.to_string());
    let time = chorus_wire::time::format(app.now());
    let day = time.split('T').next().unwrap_or_default();
    let folder = data.join(FOLDER);
    let file = folder.join(format!("{day}.json"));
    if file.exists() {
        return Ok(());
    }
    let signed = app.signed_heads().await?;
    fs::create_dir_all(&folder).map_err(failed)?;
    let text = serde_json::to_vec(&signed).map_err(|e| failed(e.into()))?;
    write_private(&file, &text).map_err(failed)
}

/// The doctor's report on a place, whether what was signed on earlier days in its data folder is still there, and whether the
/// keys open what is sealed, where there are any: those of another folder than the data's, if one is named.
pub fn verify(place: &Place, data: &Path, keys: Option<&Path>) -> Result<Report, OpenError> {
    let mut report = doctor(place)?;
    let mut recorded = Vec::new();
    let files = fs::read_dir(data.join(FOLDER)).into_iter().flatten().flatten();
    for file in files.map(|file| file.path()).filter(|p| p.extension().is_some_and(|e| e == "json"))
    {
        match read(&file) {
            Ok(heads) => recorded.extend(heads),
            Err(why) => {
                let what = format!("{}: {why}", file.display());
                report.problems.push(Problem { conversation: None, seq: None, what });
            }
        }
    }
    report.problems.extend(check_heads(place, &recorded)?);
    let keys = keys.map_or_else(|| data.join("keys"), Path::to_owned);
    // What a host would not start without.
    let is_file = matches!(place, Place::Folder { .. });
    if let Err(why) = first::must_be_whole(data, &keys, is_file)
        .and_then(|()| Keys::read(&keys).map(drop).map_err(StartError::Keys))
    {
        report.problems.push(Problem { conversation: None, seq: None, what: why.to_string() });
    }
    if let Some(Sealed { workspace, all }) = sealed(place)?
        && let Some(vault) = Vault::there(&keys, workspace)
    {
        let shut = all.into_iter().filter(|(_, secret)| vault.open(secret).is_none());
        report.problems.extend(shut.map(|(what, _)| {
            let what = format!("{what} cannot be opened with the key in {}", keys.display());
            Problem { conversation: None, seq: None, what }
        }));
    }
    Ok(report)
}

fn read(file: &Path) -> Result<Vec<Recorded>, String> {
    let text = fs::read(file).map_err(|e| e.to_string())?;
    let signed: SignedHeads = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
    if !check_heads_signature(&signed) {
        return Err("its signature is not over what it says".to_owned());
    }
    let heads = signed.heads;
    let when = chorus_wire::time::format(heads.at.0);
    let of = |conversation: Option<Uid>, head: &Head| {
        let hash = hash(&head.hash).ok_or("a hash in it is none")?;
        Ok(Recorded { conversation, seq: head.seq, hash, when: when.clone() })
    };
    let audit = std::iter::once(of(None, &heads.audit));
    let conversations = heads.conversations.iter().map(|(id, head)| {
        let uid = Uid::read(Prefix::Conversation, id).ok_or("an id in it is none")?;
        of(Some(uid), head)
    });
    audit.chain(conversations).collect::<Result<_, &str>>().map_err(str::to_owned)
}

fn hash(text: &str) -> Option<Hash> {
    let mut out = [0; 32];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(out)
}
