//! Channels as they are printed.

use chorus_core::model::conversation::Participation;
use chorus_wire::named::NamedEnum;
use chorus_wire::rest::channels::{Channel, Display, Seat};
use chorus_wire::rest::index::{Index, Indexed};

use crate::lookup;
use crate::print::{self, date, line, table};

pub(super) fn indexed(index: &Index) -> String {
    let count = |n: u32, more: bool| if more { format!("{n}+") } else { n.to_string() };
    let row = |channel: &Indexed| {
        vec![
            lookup::called(&channel.id, &channel.title, channel.kind.0),
            count(channel.unread, channel.more),
            count(channel.mentions, channel.more),
            date(channel.last_at.0),
            channel.id.clone(),
        ]
    };
    let rows: Vec<_> = index.channels.iter().map(row).collect();
    table("nothing here, or nothing unread", &["CHANNEL", "UNREAD", "FOR YOU", "LAST", "ID"], &rows)
}

pub(super) fn one(channel: &Channel) -> String {
    let mut text = format!(
        "{} ({}, {}, {})",
        lookup::shown(channel),
        channel.kind.name(),
        channel.visibility.name(),
        channel.id
    );
    if channel.archived {
        text.push_str("\narchived");
    }
    if channel.paused {
        let said = channel.unattended;
        text.push_str(&format!("\npaused: agents have said {said} messages without a person"));
    }
    for (name, value) in [("description", &channel.description), ("purpose", &channel.purpose)] {
        if !value.is_empty() {
            text.push_str(&format!("\n{name}: {}", line(value)));
        }
    }
    if let Some(lead) = &channel.lead {
        text.push_str(&format!("\nlead: {}", line(lead)));
    }
    if let Some(idle) = channel.stimuli.idle_followup_ms {
        text.push_str(&format!("\nsilent threads are asked after: {}", print::span(idle)));
    }
    for asset in &channel.pinned_assets {
        text.push_str(&format!("\npinned: {} ({})", line(&asset.name), asset.asset_id));
    }
    if let Some(keep) = &channel.keep {
        text.push_str(&format!("\nkept: {}", line(keep)));
    }
    if let Some(base) = channel.base_seq {
        text.push_str(&format!("\nbegins after event {base}: what was before is archived or gone"));
    }
    if let Some(held) = &channel.held {
        let why = match held.by.as_str() {
            "owed" => "something is still owed for it",
            "approval" => "what answers it waits for a person",
            "thread" => "its thread is not done",
            "digest" => "a digest of it is still to come",
            other => other,
        };
        text.push_str(&format!("\nkept from event {} on, whatever its age: {why}", held.seq));
    }
    if let Some(seats) = &channel.members {
        let seats: Vec<_> = seats.iter().map(seated).collect();
        text.push_str(&format!("\nmembers: {}", seats.join(", ")));
    }
    text
}

/// A member, with what is not usual about its seat.
fn seated(seat: &Seat) -> String {
    let mut about = Vec::new();
    if seat.participation != Participation::SelectedOnly {
        about.push(seat.participation.name().to_owned());
    }
    if seat.by_mirror {
        about.push("mirrored".to_owned());
    }
    if seat.display == Some(Display::Manual) {
        about.push(format!("called {:?}", line(&seat.display_name)));
    }
    if let Some(session) = &seat.session_id {
        about.push(format!("only {}", line(session)));
    }
    let member = line(&seat.member);
    if about.is_empty() { member } else { format!("{member} ({})", about.join(", ")) }
}

pub(super) fn list(channels: &[Channel]) -> String {
    let rows: Vec<_> = channels
        .iter()
        .map(|channel| {
            let state = if channel.archived { "archived" } else { channel.visibility.name() };
            vec![
                lookup::shown(channel),
                channel.id.clone(),
                channel.kind.name().to_owned(),
                state.to_owned(),
                channel.last_seq.to_string(),
                line(&channel.purpose),
            ]
        })
        .collect();
    table(
        "no channels yet; make one with: chorus channel create TITLE MEMBER…",
        &["CHANNEL", "ID", "KIND", "SEEN BY", "EVENTS", "PURPOSE"],
        &rows,
    )
}
