//! The agent that a program in a folder is.

use std::path::Path;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_core::model::member::MemberKind;

use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::line;

/// The one that was named; else one called like the folder. Where a person is called so, the agent has another name.
pub(super) async fn agent(named: Option<&str>, folder: &Path, client: &Client) -> Result<String> {
    if let Some(named) = named {
        let named = lookup::member(named).to_owned();
        lookup::agent(client, &named).await?;
        return Ok(named);
    }
    let name = of_folder(folder).ok_or_else(|| {
        let why = format!("no agent can be called like {}", folder.display());
        Failure::usage(&why).next("name it: chorus run --agent NAME …")
    })?;
    let members = client.members().await?.members;
    let is_person =
        members.iter().any(|member| member.id == name && *member.kind == MemberKind::Human);
    Ok(if is_person { format!("{name}-agent") } else { name })
}

/// The agent whose token this is.
pub(super) fn own(named: Option<&str>, id: &str) -> Result<String> {
    match named.map(lookup::member).filter(|named| *named != id) {
        None => Ok(id.to_owned()),
        Some(named) => {
            let why = format!("the token is of {}, and not of {}", line(id), line(named));
            Err(Failure::new(Code::ClaimMismatch, why).next("leave --agent out, or give its token"))
        }
    }
}

/// A member id out of a folder's name: small letters, digits, `-` and `_`; none where it has no such character.
fn of_folder(folder: &Path) -> Option<String> {
    let name = folder.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let mut id = String::new();
    for c in name.unwrap_or_default().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => id.push(c),
            _ if id.is_empty() || id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    let id = id.trim_end_matches('-');
    let id = &id[..id.len().min(LONGEST)];
    (!id.is_empty()).then(|| id.to_owned())
}

/// Longer names are hard to type.
const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_name_that_can_be_mentioned() {
        for (folder, name) in [
            ("/home/will/Chorus Web", Some("chorus-web")),
            ("/srv/api.v2", Some("api-v2")),
            ("/tmp/--x--", Some("x")),
            ("/tmp/Ünï", Some("n")),
            ("/tmp/日本", None),
            ("/", None),
        ] {
            assert_eq!(of_folder(Path::new(folder)).as_deref(), name, "{folder}");
        }
    }
}
