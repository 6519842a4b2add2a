//! `chorus workspace move`: from this host to another, with its keys, so that tokens go on being good.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::rest::workspaces::Workspace;

use crate::commands::Context;
use crate::failure::{Failure, Result};
use crate::print::date;
use crate::profiles::Profiles;
use crate::progress::Progress;

/// Bytes that are sent at a time.
const PIECE: usize = 4 * 1024 * 1024;

/// Moves it. Until it is let go here, whatever fails leaves it here, and in use.
pub(super) async fn run(name: &str, to: &str, token: Option<&str>, context: &Context) -> Result {
    let (here, there) = (context.target.client()?, other(to, token)?);
    let address = format!("{}/w/{name}", there.base_url().trim_end_matches('/'));
    if here.base_url().trim_end_matches('/') == there.base_url().trim_end_matches('/') {
        return Err(Failure::usage(format!("{name} is at {to} already")));
    }
    let before = super::named(&here, name).await?;
    if before.moved_to.as_deref() == Some(&*address) {
        // It was let go before, and nobody may have been let in there.
        there.suspend_workspace(name, false).await?;
        return context.print.show(&before, |moved| told(moved, &address));
    }
    if before.state == "deleted" {
        let why = match &before.moved_to {
            Some(to) => format!("{name} has moved to {to}"),
            None => format!("{name} is deleted"),
        };
        let next = format!("bring it back first: chorus workspace resume {name}");
        return Err(Failure::new(Code::Conflict, why).next(next));
    }
    let was_active = before.state == "active";
    // Asked before anybody is kept out here.
    let at_other = |error: chorus_client::Error| {
        let failure = Failure::from(error);
        let next = "only an operator of the other host's own workspace takes one in";
        failure.next_if(&[Code::InsufficientAuthority, Code::Unauthorized], || next.to_owned())
    };
    there.send_workspace(name, 0, Vec::new()).await.map_err(at_other)?;
    here.suspend_workspace(name, true).await?;
    if let Err(failure) = carry(name, &here, &there, context).await {
        // One that was in use is again; whoever had suspended it may be in the middle of the same.
        let is_back = was_active && here.suspend_workspace(name, false).await.is_ok();
        let next = if is_back {
            format!("{name} is where it was")
        } else {
            format!(
                "{name} is suspended; let everybody in again with: chorus workspace resume {name}"
            )
        };
        return Err(failure.next(next));
    }
    let again = || {
        "whether it has moved is not known: run the same again, nothing is lost by that".to_owned()
    };
    let moved = here.workspace_moved(name, &address).await;
    let moved = moved.map_err(|error| Failure::from(error).next_if(&Failure::LOST, again))?;
    if !was_active {
        return context.print.show(&moved, |moved| {
            let told = told(moved, &address);
            format!("{told}\n  it is suspended there, as it was: chorus workspace resume {name} --url {to}")
        });
    }
    there.suspend_workspace(name, false).await.map_err(|error| {
        let next = format!(
            "it has moved; let everybody in with: chorus workspace resume {name} --url {to}"
        );
        Failure::from(error).next(next)
    })?;
    context.print.show(&moved, |moved| told(moved, &address))
}

async fn carry(name: &str, here: &Client, there: &Client, context: &Context) -> Result {
    let local = |error| Failure::here("a temporary file for the copy", error);
    let mut copy: File = tempfile::tempfile().map_err(local)?;
    let progress = Progress::begin(context.print, "copying", None);
    let mut out = progress.bytes.wrap_write(&copy);
    let copied = here.copy_workspace(name, |bytes| out.write_all(bytes)).await?;
    let length = copied.map_err(local)?;
    drop(progress);
    copy.seek(SeekFrom::Start(0)).map_err(local)?;
    let progress = Progress::begin(context.print, "sending", Some(length));
    let mut sent = 0;
    while sent < length {
        let mut piece = Vec::with_capacity(PIECE);
        Read::by_ref(&mut copy).take(PIECE as u64).read_to_end(&mut piece).map_err(local)?;
        let received = there.send_workspace(name, sent, piece).await?.bytes;
        progress.bytes.inc(received.saturating_sub(sent));
        sent = received;
    }
    there.take_workspace_in(name).await?;
    Ok(())
}

/// The host that it moves to, as whoever this user is there.
fn other(to: &str, token: Option<&str>) -> Result<Client> {
    if let Some(token) = token {
        return Ok(Client::new(to, token)?);
    }
    let same = |url: &str| url.trim_end_matches('/') == to.trim_end_matches('/');
    let profiles = Profiles::read()?;
    let Some(profile) = profiles.profiles.values().find(|profile| same(&profile.url)) else {
        let why = format!("you are not signed in to {to}");
        let next = "sign in there as an operator (chorus login LINK), or give --to-token";
        return Err(Failure::new(Code::Unauthorized, why).next(next));
    };
    Ok(Client::new(&profile.url, profile.token.as_str())?)
}

fn told(moved: &Workspace, address: &str) -> String {
    let name = &moved.name;
    let kept = moved.removed_at.map_or_else(String::new, |at| {
        format!("\n  here it is kept until {}, and nobody is let in", date(at.0))
    });
    format!(
        "moved the workspace {name}\n  its address    {address}\n  its tokens     are good there{kept}"
    )
}
