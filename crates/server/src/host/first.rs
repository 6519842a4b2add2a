//! What the first start makes: an operator, who is the lead, and the token with which commands on this machine
//! act for it (design section 4, "First start").

use std::path::Path;
use std::sync::Arc;

use chorus_core::command::{Authority, By, Command, Outcome};
use chorus_core::error::{Code, Refusal};
use chorus_core::member::{Member, MemberFields, MemberKind};

use super::{OPERATOR_FILE, StartError};
use crate::app::App;
use crate::auth::{Keys, write_private};

/// The member that the first start makes.
const OPERATOR: &str = "operator";
/// A token that ends sooner is replaced at the start.
const RENEW_BEFORE_MS: i64 = 180 * 24 * 3_600_000;

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
    match std::fs::metadata(data.join("chorus.db")) {
        _ if !has_database => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return lost("its database chorus.db is gone");
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
         there, or name their folder with --keys, and start again",
        keys.display(),
        Keys::FILES.join(" and ")
    )
}

impl App {
    /// Makes what is missing, and gives the operator's token.
    pub(super) async fn first_start(&self, data: &Path) -> Result<String, StartError> {
        let operator = self.operator().await.map_err(StartError::First)?;
        let path = data.join(OPERATOR_FILE);
        let file = |why| StartError::File { path: path.clone(), why };
        if let Ok(token) = std::fs::read_to_string(&path)
            && self.is_good(token.trim(), &operator)
        {
            return Ok(token.trim().to_owned());
        }
        let token = self.operator_token(&operator).map_err(StartError::First)?;
        write_private(&path, token.as_bytes()).map_err(file)?;
        Ok(token)
    }

    async fn operator(&self) -> Result<Arc<Member>, Refusal> {
        let known = self.directory().by_id(OPERATOR).cloned();
        if let Some(member) = known {
            return Ok(member);
        }
        let fields =
            MemberFields { display_name: Some("Operator".to_owned()), ..MemberFields::default() };
        let id = OPERATOR.to_owned();
        let command = Command::AddMember { id, kind: MemberKind::Human, fields };
        let Outcome::Member(member) = self.change(By::host(), command).await? else {
            return Err(Refusal::new(Code::Internal, "no operator was made"));
        };
        if self.directory().lead.is_none() {
            let member = Some(member.key);
            self.change(By::host(), Command::SetLead { member }).await?;
        }
        Ok(member)
    }

    fn is_good(&self, token: &str, operator: &Member) -> bool {
        let caller = self.caller(token);
        caller.is_ok_and(|caller| {
            caller.member.key == operator.key
                && caller.authority() == Authority::Operator
                && caller.expires.since(self.now()) > RENEW_BEFORE_MS
        })
    }

    fn operator_token(&self, operator: &Member) -> Result<String, Refusal> {
        let ttl = Some(crate::app::tokens::LONGEST_TTL_S);
        Ok(self.sign(operator, Authority::Operator, None, ttl)?.token)
    }

    /// The link that `serve` prints.
    pub(super) fn sign_in_link(&self) -> Result<String, Refusal> {
        let mut secret = [0; 32];
        self.draw.fill(&mut secret)?;
        let secret = self.sign_in.open(secret, self.now());
        Ok(format!("{}/signin/{secret}", self.public_url))
    }

    /// The operator's token, when the secret is the one given out and was not used.
    pub(crate) fn sign_in(&self, secret: &str) -> Result<Option<String>, Refusal> {
        if !self.sign_in.take(secret, self.now()) {
            return Ok(None);
        }
        let operator = self.directory().by_id(OPERATOR).cloned();
        let operator = operator.ok_or_else(|| Refusal::not_found("member"))?;
        self.operator_token(&operator).map(Some)
    }
}
