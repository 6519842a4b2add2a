//! `chorus login`: keeps a host and a token in the user's configuration folder, so that no command needs them again.

use chorus_client::Client;
use serde_json::json;

use super::Context;
use crate::ask;
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::profiles::{Profile, Profiles};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A sign-in link, an invitation, or the address of a host, whose token is then asked for
    #[arg(value_name = "LINK|URL")]
    link: String,
    /// What the profile is called here [default: the host's name]
    #[arg(long = "as", value_name = "NAME")]
    called: Option<String>,
    /// With an invitation: your name
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let url = host_of(&args.link);
    // A link works once: it is not used up for a token that cannot be kept.
    Profiles::can_change()?;
    let token = match is_link(&args.link) {
        true => chorus_client::sign_in(&args.link, args.display_name).await?.token,
        false => {
            // Nobody is asked for a token of a host that is not there.
            Client::new(&url, "")?.ready().await?;
            context.target.given_token().map_or_else(asked, Ok)?
        }
    };
    let client = Client::new(&url, token.as_str())?;
    // Nothing is kept that does not work.
    let member = client.whoami().await?.member.id;
    let name = args.called.unwrap_or_else(|| name_of(client.base_url()));
    let url = client.base_url().trim_end_matches('/').to_owned();
    let profile = Profile { url: url.clone(), member: member.clone(), token };
    let path = Profiles::change(|profiles| {
        profiles.profiles.insert(name.clone(), profile);
        profiles.current = Some(name.clone());
    })?;
    // Where a workspace is at hand, commands go to its host.
    let here = if context.target.is_in_workspace()? {
        format!(" --profile {name}")
    } else {
        String::new()
    };
    let shown = json!({"profile": name, "url": url, "member": member, "file": path});
    context.print.show(&shown, |_| {
        let path = path.display();
        format!("You are {} at {url} (kept in {path}). Next: chorus status{here}", line(&member))
    })
}

fn is_link(text: &str) -> bool {
    text.contains("/signin/") || text.contains("/invite/")
}

/// The host's address, without what comes after it in a link.
fn host_of(link: &str) -> String {
    let end = link.find("/signin/").or_else(|| link.find("/invite/")).unwrap_or(link.len());
    link[..end].to_owned()
}

/// What a host is called, of its address: `chorus.example`, `127.0.0.1:7600`.
fn name_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.trim_end_matches('/').to_owned()
}

fn asked() -> Result<String> {
    let token = ask::secret("Token: ")?;
    if token.is_empty() {
        let usage = Failure::usage("a token is needed to sign in");
        return Err(usage.next("ask the operator for a link: chorus invite YOUR_NAME"));
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_its_host() {
        assert_eq!(host_of("https://c.example/x/signin/abc"), "https://c.example/x");
        assert_eq!(host_of("http://127.0.0.1:7600/invite/abc.def"), "http://127.0.0.1:7600");
        assert_eq!(host_of("https://c.example"), "https://c.example");
        assert_eq!(name_of("https://c.example/x/"), "c.example/x");
    }
}
