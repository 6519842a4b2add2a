//! The agent that a program in a folder is.

use std::path::Path;

use chorus_client::Client;
use chorus_core::model::member::MemberKind;

use crate::failure::Result;
use crate::lookup;

/// The one that was named; else one called like the folder. Where a person is called so, the agent has another name.
pub(super) async fn agent(named: Option<&str>, folder: &Path, client: &Client) -> Result<String> {
    if let Some(named) = named {
        let named = lookup::member(named).to_owned();
        lookup::agent(client, &named).await?;
        return Ok(named);
    }
    let name = of_folder(folder);
    let members = client.members().await?.members;
    let is_person =
        members.iter().any(|member| member.id == name && *member.kind == MemberKind::Human);
    Ok(if is_person { format!("{name}-agent") } else { name })
}

/// A member id out of a folder's name: small letters, digits, `-` and `_`.
fn of_folder(folder: &Path) -> String {
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
    if id.is_empty() { "agent".to_owned() } else { id.to_owned() }
}

/// Longer names are hard to type.
const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_name_that_can_be_mentioned() {
        for (folder, name) in [
            ("/home/will/Chorus Web", "chorus-web"),
            ("/srv/api.v2", "api-v2"),
            ("/tmp/--x--", "x"),
            ("/tmp/Ünï", "n"),
            ("/tmp/日本", "agent"),
            ("/", "agent"),
        ] {
            assert_eq!(of_folder(Path::new(folder)), name, "{folder}");
        }
    }
}
