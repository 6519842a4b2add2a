//! `chorus logout`: forgets a host that `chorus login` kept, and ends the token there.

use serde::Serialize;

use super::Context;
use crate::ended::{Ended, end};
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::profiles::Profiles;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The profile [default: the one signed in to last]
    name: Option<String>,
}

#[derive(Debug, Serialize)]
struct Done {
    profile: String,
    url: String,
    token: Ended,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let profiles = Profiles::read()?;
    let name = args.name.or_else(|| context.target.profile.clone()).filter(|name| !name.is_empty());
    let profile = profiles.chosen(name.as_deref())?.cloned();
    let (Some(profile), Some(name)) = (profile, name.or(profiles.current)) else {
        let nobody =
            Failure::usage("you are signed in to no host, or to several and to none of them last");
        let known: Vec<_> = profiles.profiles.keys().map(|name| line(name)).collect();
        return Err(match known.as_slice() {
            [] => nobody.next("there is nothing to forget"),
            known => nobody.next(format!("name one: {}", known.join(", "))),
        });
    };
    Profiles::can_change()?;
    let token = end(&profile.url, &profile.token).await;
    Profiles::change(|profiles| {
        profiles.profiles.remove(&name);
        // Which of the others is meant, somebody has to say.
        profiles.current.take_if(|current| *current == name);
    })?;
    let done = Done { profile: name, url: profile.url, token };
    context.print.show(&done, |done| {
        let token = match &done.token {
            Ended::Revoked { .. } => "its token is revoked".to_owned(),
            Ended::Over => "its token had ended already".to_owned(),
            Ended::Unknown { why } => format!(
                "its token may still be valid, because {}; its operator ends it with: chorus token revoke --member {}",
                line(why),
                line(&profile.member)
            ),
        };
        format!("{} ({}) is forgotten; {token}", line(&done.profile), line(&done.url))
    })
}
