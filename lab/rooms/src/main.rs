//! Attention measured on real rooms: the program behind `cargo xtask bench attention DIR`.
//!
//! It replays each file of a folder of annotated chat through the decisions of the core, message by message, each
//! knowing what came before it and nothing else, and prints one JSON object a figure:
//!
//! ```json
//! {"bench":"attention","set":"irc-ubuntu.dev","metric":"addressee.implicit","value":0.74,"unit":"share","target":0.8,"holds":false}
//! ```
//!
//! A name with `.broadcast`, `.mention_only`, `.people` or `.plain` behind it is a baseline: everybody is told, whoever
//! is named is told, what people did, a window that does not adapt.

mod acts;
mod bounds;
mod fit;
mod lines;
mod merge;
mod pseudo;
mod replay;
mod report;
mod score;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;

use chorus_core::attention::compose;
use chorus_core::model::flow::{self, Clue, Clues, Settings};
use clap::Parser;

use bounds::Crossed;
use lines::{Chat, Set};
use replay::{Cost, Decided, Replay};
use report::Report;
use score::{AGENTS, Played};

#[derive(Parser)]
struct Args {
    /// A folder of `*.jsonl` with annotated chat.
    folder: PathBuf,
    /// Prints each miss with its trace on standard error.
    #[arg(long)]
    explain: bool,
    /// Rules of the flow of talk to leave out, to see what they are worth.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Fits the weights of the flow anew for each room from all the others, and scores it on that one.
    #[arg(long)]
    cross: bool,
    /// Fits the weights of the flow from all rooms, and prints the table instead of figures.
    #[arg(long)]
    fit: bool,
    /// From how many percent on a guess obliges as a name does.
    #[arg(long, default_value_t = flow::SURE)]
    sure: u8,
    /// From how many percent on the message is shown.
    #[arg(long, default_value_t = flow::LIKELY)]
    likely: u8,
    /// From how many percent on a guess is worth a knock.
    #[arg(long, default_value_t = flow::PERHAPS)]
    perhaps: u8,
}

/// What costs are taken of: so many lines of each conversation are enough.
const TIMED_LINES: usize = 1_500;

/// Seats of members who never speak, beside whom the same decision is taken again.
const SILENT: usize = 1_000;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("attention: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let sets = lines::read(&args.folder)?;
    let off = args.without.iter().map(|name| clue(name)).collect::<Result<Vec<_>, _>>()?;
    let off = off.into_iter().fold(Clues::NONE, Clues::with);
    let (sure, likely, perhaps) = (args.sure, args.likely, args.perhaps);
    let usual = Settings { off, sure, likely, perhaps, ..Settings::default() };
    if args.fit {
        return fit_all(&sets, usual);
    }
    let settings = if args.cross { bounds::crossed(&sets, usual)? } else { Crossed::new() };
    let flow_of = |set: &Set, chat: &Chat| {
        let place = (set.name.clone(), chat.conv.clone());
        settings.get(&place).copied().unwrap_or(usual)
    };
    let decided = decisions(&sets, flow_of, Chat::clone)?;
    let pseudo = decisions(&sets, flow_of, pseudo::chat)?;
    for set in &sets {
        let mut report = Report::new(&set.name, args.explain);
        let decided_of = played(set, &decided);
        score::score(&decided_of, &mut report);
        score::score_pseudo(&played(set, &pseudo), &mut report);
        merge::score(&decided_of, &mut report);
        acts::questions(&decided_of, &mut report);
        acts::labelled(&set.labelled, &sets, &decided, &mut report);
        costs(set, usual, &mut report)?;
        report.print();
    }
    Ok(())
}

/// How each line was decided, by set and conversation.
type Decisions = HashMap<(String, String), Vec<Option<Decided>>>;

/// Plays every conversation, as `wording` gives it.
fn decisions(
    sets: &[Set],
    flow_of: impl Fn(&Set, &Chat) -> Settings,
    wording: impl Fn(&Chat) -> Chat,
) -> Result<Decisions, String> {
    let mut decided = Decisions::new();
    for set in sets {
        for chat in &set.chats {
            let agents = chat.most_active(AGENTS).into_iter().collect();
            let mut replay = Replay::new(&chat.authors, &agents, 0, flow_of(set, chat))?;
            let place = (set.name.clone(), chat.conv.clone());
            decided.insert(place, replay.play(&wording(chat).heard));
        }
    }
    Ok(decided)
}

/// Prints what all rooms together give: the weights and bounds of the flow.
fn fit_all(sets: &[Set], usual: Settings) -> Result<(), String> {
    let rooms = fit::rooms(sets);
    let weights = fit::fit(&rooms, usual.off)?;
    println!("{}", fit::table(&weights));
    let flow = bounds::fit(&rooms, Settings { weights: fit::leak(weights), ..usual })?;
    let bounds::Found { likely, perhaps, somebodys } = bounds::Found::of(&flow);
    println!("likely {likely}, perhaps {perhaps}, somebodys {somebodys}");
    Ok(())
}

/// The conversations of a set that were played.
fn played<'a>(set: &'a Set, decided: &'a Decisions) -> Vec<Played<'a>> {
    let of = |chat: &Chat| decided.get(&(set.name.clone(), chat.conv.clone()));
    let chats = set.chats.iter().filter_map(|chat| {
        let decided = of(chat)?;
        let compose = compose::Settings::default();
        Some(Played { chat, agents: chat.most_active(AGENTS), decided, compose })
    });
    chats.collect()
}

fn clue(name: &str) -> Result<Clue, String> {
    Clue::from_name(name).ok_or_else(|| {
        let known = Clue::ALL.map(Clue::name).join(", ");
        format!("no rule of the flow is called '{name}'; there are {known}")
    })
}

/// Mean time and allocations of a decision, and the allocations among a thousand more seats.
fn costs(set: &Set, flow: Settings, report: &mut Report) -> Result<(), String> {
    let timed: Vec<&Chat> = set.chats.iter().filter(|chat| chat.heard.len() > 500).collect();
    if timed.is_empty() {
        return Ok(());
    }
    let mut taken = [Vec::new(), Vec::new()];
    for chat in timed {
        let agents: BTreeSet<usize> = chat.most_active(AGENTS).into_iter().collect();
        let lines = &chat.heard[..chat.heard.len().min(TIMED_LINES)];
        for (costs, silent) in taken.iter_mut().zip([0, SILENT]) {
            costs.extend(Replay::new(&chat.authors, &agents, silent, flow)?.costs(lines));
        }
    }
    let mean = |costs: &[Cost], of: fn(&Cost) -> u64| {
        costs.iter().map(of).sum::<u64>() as f64 / costs.len().max(1) as f64
    };
    let [usual, crowded] = &taken;
    report.figure("decide_us", mean(usual, |c| c.nanos) / 1_000.0, "us");
    report.figure("decide_us.crowded", mean(crowded, |c| c.nanos) / 1_000.0, "us");
    report.figure("decide_allocations", mean(usual, |c| c.allocations), "allocations");
    report.figure("decide_allocations.crowded", mean(crowded, |c| c.allocations), "allocations");
    Ok(())
}
