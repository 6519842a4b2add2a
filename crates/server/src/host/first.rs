//! What the first start makes: an operator, who is the lead, and the token with which commands on this machine
//! act for it (design section 4, "First start").

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use chorus_core::model::token::OPERATOR;
use chorus_store::{Options, Store};
use tokio::sync::watch;

use super::{OPERATOR_FILE, StartError};
use crate::auth::{Keys, Unkept, write_private};
use crate::services::App;
use crate::services::operator::Operator;

/// A token that ends sooner is replaced, at the start and while the host runs.
const RENEW_BEFORE_MS: i64 = 15 * 24 * 3_600_000;
/// How often it is looked whether it is to be replaced.
const LOOK: Duration = Duration::from_secs(3_600);

/// A folder that a host has lived on still has its database and its keys. New ones in their place would be a
/// workspace without a past, or one that knows nobody's token, and nobody would have been told.
pub(super) fn must_be_whole(
    data: &Path,
    keys: &Path,
    has_database: bool,
) -> Result<(), StartError> {
    if !data.join(OPERATOR_FILE).exists() {
        return Ok(());
    }
    let here = data.display();
    let lost = |what: &str| {
        let why = format!(
            "{here} was a host's, and {what}; put it back, or restore a backup into another folder"
        );
        Err(StartError::Lost(why))
    };
    match fs::metadata(data.join("chorus.db")) {
        _ if !has_database => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return lost(
                "its database chorus.db is gone (if it is in PostgreSQL, name that with --database)",
            );
        }
        Ok(database) if database.len() == 0 => return lost("its database chorus.db is empty"),
        _ => {}
    }
    if !Keys::FILES.iter().all(|name| keys.join(name).exists()) {
        let why = format!(
            "{here} was a host's, and its keys are not in {}; put them back, or name their folder \
             with --keys; to end all tokens and start with new keys, remove {OPERATOR_FILE}",
            keys.display()
        );
        return Err(StartError::Lost(why));
    }
    Ok(())
}

/// What is said of a host whose keys are not those of the others on its database, or of the one that served it last.
pub(super) fn other_keys(keys: &Path) -> String {
    format!(
        "the hosts of this database sign with other keys than those in {}; copy the files {} of one of them \
         there, and sealing.key if it has that, or name their folder with --keys, and start again (if those keys are \
         lost: chorus restore --database URL ends all tokens, and takes the keys of the next host)",
        keys.display(),
        Keys::FILES.join(" and ")
    )
}

/// Opens the place with the keys that were read. New keys are kept once the place has taken them. A start that is refused
/// leaves nothing in a folder that had nothing.
pub(super) fn open(options: Options, keys: Unkept) -> Result<(Store, Keys), StartError> {
    let store = chorus_store::open(options).map_err(StartError::Store)?;
    match keys.in_epoch(store.tenant().epoch).keep() {
        Ok(keys) => Ok((store, keys)),
        Err(refused) => {
            store.take_back();
            Err(StartError::Keys(refused))
        }
    }
}

/// Renews the operator's token in the data folder before it ends, until the host stops.
pub(super) async fn keep_token(app: Arc<App>, data: PathBuf, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = app.shared.clock.wait(LOOK) => {}
        }
        if let Err(why) = operator_token(&app.operator, &data).await {
            tracing::warn!(%why, "the operator's token was not renewed; it is tried again");
        }
    }
}

/// Makes what is missing, and gives the operator's token; none where the operator was removed, which an earlier version
/// let happen.
pub(super) async fn operator_token(
    operator: &Operator,
    data: &Path,
) -> Result<Option<String>, StartError> {
    let Some(member) = operator.operator().await.map_err(StartError::First)? else {
        return Ok(None);
    };
    let path = data.join(OPERATOR_FILE);
    let file = |why| StartError::File { path: path.clone(), why };
    let kept = fs::read_to_string(&path).map(|token| token.trim().to_owned()).ok();
    let left = kept.as_deref().and_then(|token| operator.time_left(token, &member));
    if left.is_some_and(|left| left > RENEW_BEFORE_MS) {
        return Ok(kept);
    }
    let token = match (operator.token(&member).await, kept.filter(|_| left.is_some())) {
        (Ok(token), _) => token,
        // A disk that is full, for instance. It is good for some days yet, and renewed while the host runs.
        (Err(why), Some(kept)) => {
            tracing::warn!(code = ?why.code, "the operator's token was not renewed; it is tried again");
            return Ok(Some(kept));
        }
        (Err(why), None) => return Err(StartError::First(why)),
    };
    write_private(&path, token.as_bytes()).map_err(file)?;
    Ok(Some(token))
}

/// The link that signs the operator in; empty where there is no operator.
pub(super) fn sign_in_link(app: &App, has_operator: bool) -> Result<String, StartError> {
    let operator = app.directory().by_id(OPERATOR).cloned().filter(|_| has_operator);
    if let Some(operator) = operator {
        let link = app.sign_ins.link_of_operator(&operator);
        return link.map_err(StartError::First);
    }
    tracing::error!(
        "the member 'operator' was removed, and nobody can run this host; stop it, run `chorus doctor --repair` on \
         its data folder, and start it again"
    );
    Ok(String::new())
}
