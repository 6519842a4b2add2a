//! What somebody says in pieces, to an agent that is run by our own `chorus join` as it comes.

use std::path::Path;
use std::time::Duration;

use super::scene::{SOON, Scene};
use crate::referee::house::{Member, text};
use crate::referee::rules::{PIECES, START};

/// Notes when the run began, and answers after a while, which is put in.
const SCRIPT: &str = "\
cat >/dev/null
echo \"$CHORUS_EVENT_ID $(date +%s%3N)\" >>runs
sleep WHILE
echo \"Looked at it: all is well (run $$).\"
";
/// How long a run takes, in seconds.
const WHILES: [&str; 3] = ["0.05", "0.3", "1"];
/// Where the machine itself was once late for so long, a gap may have been longer for the one that waits.
const LATE: Duration = Duration::from_millis(300);
/// Between two pieces.
const GAP: Duration = Duration::from_millis(1_500);
/// Pieces further apart than that, for whatever reason, prove nothing.
const APART: i64 = 1_750;
/// The longest that an answer to pieces may take: the cap of a composition, and the run.
const ANSWERED: Duration = Duration::from_secs(45);
/// After an answer, how long another is waited for.
const ANOTHER: Duration = Duration::from_secs(9);
/// Two quiet seconds, and what a process needs to begin on a busy machine.
const BEGINS_MS: i64 = 2_000 + 3_500;

const STORIES: [[&str; 5]; 5] = [
    [
        "the deploy of the parser hangs",
        "since about noon",
        "on the second node only",
        "the log says timeout",
        "can you look at it?",
    ],
    [
        "I have a question about the cache",
        "we moved it to the new cluster yesterday",
        "and since then every third request is slow",
        "it may be the network",
        "what do you think?",
    ],
    [
        "there is something odd in the nightly build",
        "it is green",
        "but the package is empty",
        "both on main and on the branch",
        "could you find out why?",
    ],
    [
        "can you look at the deploy?",
        "It hangs on the second node.",
        "The log says that it waits for the cache.",
        "I have restarted it twice.",
        "Is that the same as last week?",
    ],
    [
        "could you check the new parser, please?",
        "It was merged this morning.",
        "What does it do with empty files?",
        "And is it slower than the old one?",
        "Thank you!",
    ],
];
const COMPLETE: [&str; 4] = [
    "can you check whether the deploy is blocked?",
    "could you tell me which commit broke the build?",
    "what is the address of the new cluster?",
    "can you restart the second node, please?",
];

/// A stranger's five pieces get one answer; what they then ask in one piece starts soon.
pub(super) async fn pieces(scene: &mut Scene) -> Result<(), String> {
    let (ann, bot) = (scene.person().await?, scene.agent().await?);
    let room = scene.house.room(&[&ann, &bot], serde_json::json!({})).await?;
    let script = SCRIPT.replace("WHILE", WHILES[scene.chance.index(WHILES.len())]);
    let (harness, folder) = scene.join(&bot, &script).await?;
    let began = std::time::Instant::now();
    let story = STORIES[scene.chance.index(STORIES.len())];
    let mut times = Vec::new();
    for (number, piece) in story.iter().enumerate() {
        let words = if number == 0 { format!("@{} {piece}", bot.id) } else { (*piece).to_owned() };
        let posted = scene.say(&ann, &room, &words).await?;
        times.push(time(&posted)?);
        if number + 1 < story.len() {
            scene.pass(GAP).await;
        }
    }
    // Over the pieces alone: what comes after them is no gap.
    let together = times.windows(2).all(|pair| pair[1] - pair[0] <= APART)
        && scene.pulse.worst_since(began) <= LATE;
    let first = scene
        .until(ANSWERED, async || {
            let said = scene.words(&room, &bot).await?;
            Ok((!said.is_empty()).then_some(()))
        })
        .await?;
    scene.pass(ANOTHER).await;
    let answers = scene.words(&room, &bot).await?.len();
    if together {
        let seen = || match first {
            Some(()) => format!("{answers} answers to {story:?}"),
            None => format!("none in {ANSWERED:?}"),
        };
        scene.expect(PIECES, answers == 1, "five pieces 1.5 s apart get one answer", seen, &[]);
    }
    started(scene, &ann, &bot, &room, &folder).await?;
    drop(harness);
    Ok(())
}

/// A stranger's complete question starts soon.
pub(super) async fn complete(scene: &mut Scene) -> Result<(), String> {
    let (ann, bot) = (scene.person().await?, scene.agent().await?);
    let room = scene.house.room(&[&ann, &bot], serde_json::json!({})).await?;
    let script = SCRIPT.replace("WHILE", WHILES[scene.chance.index(WHILES.len())]);
    let (harness, folder) = scene.join(&bot, &script).await?;
    for _ in 0..3 {
        started(scene, &ann, &bot, &room, &folder).await?;
    }
    drop(harness);
    Ok(())
}

/// Asks one complete question, and looks when the run for it began.
async fn started(
    scene: &mut Scene,
    ann: &Member,
    bot: &Member,
    room: &str,
    folder: &Path,
) -> Result<(), String> {
    let before = std::time::Instant::now();
    let question = COMPLETE[scene.chance.index(COMPLETE.len())];
    let posted = scene.say(ann, room, &format!("@{} {question}", bot.id)).await?;
    let (event, asked) = (text(&posted, "event_id")?, time(&posted)?);
    let began = scene
        .until(ANSWERED, async || {
            let runs = std::fs::read_to_string(folder.join("runs")).unwrap_or_default();
            let mut lines = runs.lines().filter_map(|line| line.split_once(' '));
            Ok(lines.find(|(of, _)| *of == event).and_then(|(_, at)| at.parse::<i64>().ok()))
        })
        .await?;
    let late = i64::try_from(scene.pulse.late_since(before).as_millis()).unwrap_or(i64::MAX);
    let took = began.map(|began| began - asked);
    let seen = || match took {
        Some(took) => format!("{took} ms after {question:?} (the machine was {late} ms late)"),
        None => format!("no run for {question:?} in {ANSWERED:?}"),
    };
    let soon = took.is_some_and(|took| took <= BEGINS_MS + late);
    scene.expect(START, soon, "a complete question starts a run 2 s later", seen, &[&event]);
    let answered = scene
        .until(SOON, async || {
            let settled = scene.receipt(&event, bot).await?;
            Ok((settled["state"] == "settled").then_some(()))
        })
        .await?;
    answered.ok_or_else(|| format!("{event} is not answered"))
}

/// When something was posted, in milliseconds of the epoch.
fn time(posted: &serde_json::Value) -> Result<i64, String> {
    crate::referee::time::millis(&posted["created_at"])
}
