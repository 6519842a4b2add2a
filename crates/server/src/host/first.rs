//! What the first start makes: an operator, who is the lead, and the token with which commands on this machine
//! act for it (design section 4, "First start").

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use chorus_core::commands::directory;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::Refusal;
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::model::token::OPERATOR;
use chorus_store::{Options, Store};
use tokio::sync::watch;

use super::{OPERATOR_FILE, StartError};
use crate::auth::{Keys, Unkept, write_private};
use crate::services::App;
use crate::services::tokens::USUAL_TTL_S;

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

/// What is said of a host whose keys are not those of the others on its database.
pub(super) fn other_keys(keys: &Path) -> String {
    format!(
        "the hosts of this database sign with other keys than those in {}; copy the files {} of one of them \
         there, and sealing.key if it has that, or name their folder with --keys, and start again",
        keys.display(),
        Keys::FILES.join(" and ")
    )
}

/// Opens the place with the keys that were read. New keys are kept once the place has taken them. A start that is refused
/// leaves nothing in a folder that had nothing.
pub(super) fn open(
    options: Options,
    keys: Unkept,
    folder: &Path,
) -> Result<(Store, Keys), StartError> {
    let store = chorus_store::open(options).map_err(StartError::Store)?;
    match taken(&store, keys, folder) {
        Ok(keys) => Ok((store, keys)),
        Err(refused) => {
            store.take_back();
            Err(refused)
        }
    }
}

fn taken(store: &Store, keys: Unkept, folder: &Path) -> Result<Keys, StartError> {
    let keys = keys.in_epoch(store.tenant().epoch);
    if !store.agrees_on_keys(&keys.fingerprint()).map_err(StartError::Store)? {
        return Err(StartError::Lost(other_keys(folder)));
    }
    keys.keep().map_err(StartError::Keys)
}

/// Renews the operator's token in the data folder before it ends, until the host stops.
pub(super) async fn keep_token(app: Arc<App>, data: PathBuf, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = app.wait(LOOK) => {}
        }
        if let Err(why) = app.first_start(&data).await {
            tracing::warn!(%why, "the operator's token was not renewed; it is tried again");
        }
    }
}

impl App {
    /// Makes what is missing, and gives the operator's token; none where the operator was removed, which an earlier version
    /// let happen.
    pub(super) async fn first_start(&self, data: &Path) -> Result<Option<String>, StartError> {
        let Some(operator) = self.operator().await.map_err(StartError::First)? else {
            return Ok(None);
        };
        let path = data.join(OPERATOR_FILE);
        let file = |why| StartError::File { path: path.clone(), why };
        let kept = fs::read_to_string(&path).map(|token| token.trim().to_owned()).ok();
        let left = kept.as_deref().and_then(|token| self.time_left(token, &operator));
        if left.is_some_and(|left| left > RENEW_BEFORE_MS) {
            return Ok(kept);
        }
        let token = match (self.operator_token(&operator).await, kept.filter(|_| left.is_some())) {
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

    async fn operator(&self) -> Result<Option<Arc<Member>>, Refusal> {
        let known = self.directory().members.iter().find(|m| *m.id == *OPERATOR).cloned();
        if let Some(member) = known {
            return Ok(Some(member).filter(|member| !member.removed));
        }
        let fields =
            MemberFields { display_name: Some("Operator".to_owned()), ..MemberFields::default() };
        let id = OPERATOR.to_owned();
        let command = directory::AddMember { id, kind: MemberKind::Human, fields };
        let member = self.change(By::host(), command).await?;
        if self.directory().lead.is_none() {
            let member = Some(member.key);
            self.change(By::host(), directory::SetLead { member }).await?;
        }
        Ok(Some(member))
    }

    /// For how long the token is the operator's yet, in milliseconds; none if it is not.
    fn time_left(&self, token: &str, operator: &Member) -> Option<i64> {
        let caller = self.caller(token).ok()?;
        let is_its = caller.member.key == operator.key;
        (is_its && caller.authority() == Authority::Operator)
            .then(|| caller.expires.since(self.now()))
    }

    async fn operator_token(&self, operator: &Member) -> Result<String, Refusal> {
        let (role, ttl) = (Authority::Operator, Some(USUAL_TTL_S));
        Ok(self.hand_out(By::host(), operator, role, None, ttl).await?.token)
    }

    /// The link that `serve` prints.
    pub(super) fn sign_in_link(&self) -> Result<String, Refusal> {
        let mut secret = [0; 32];
        self.draw.fill(&mut secret)?;
        let secret = self.sign_in.open(secret, self.now());
        Ok(format!("{}/signin/{secret}", self.public_url))
    }

    /// The operator's token, when the secret is the one given out and was not used.
    pub(crate) async fn sign_in(&self, secret: &str) -> Result<Option<String>, Refusal> {
        if !self.sign_in.take(secret, self.now()) {
            return Ok(None);
        }
        let operator = self.directory().by_id(OPERATOR).cloned();
        let operator = operator.ok_or_else(|| Refusal::not_found("member"))?;
        self.note(By::host(), Action::SignIn, "", Some(operator.key)).await?;
        self.operator_token(&operator).await.map(Some)
    }
}
