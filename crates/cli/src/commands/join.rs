//! `chorus join`: an agent's harness on this machine. It takes the agent's deliveries, runs the runtime for
//! each turn, and brings back what it says; stopped and started again, it goes on where it was.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_harness::journal::Journal;
use chorus_harness::{Allow, Error, Knocks, Notice, Options, Program, Runtime};
use chorus_wire::rest::channels::SeatPut;
use chorus_wire::rest::index::ListIndex;
use chorus_wire::rest::tokens::NewToken;
use serde_json::json;
use tokio::sync::mpsc;

use super::{Context, serve};
use crate::ask::line;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::lookup;
use crate::print::line as shown;
use crate::printer::Printer;
use crate::values::span;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Member id of the agent; made when it is new and the token is issued here
    #[arg(long, value_name = "ID")]
    agent: String,
    /// What answers: claude, codex or gemini, run headless for each turn; or cmd:'COMMAND', run by sh with the
    /// prompt on standard input
    #[arg(long, value_parser = answers, value_name = "RUNTIME")]
    runtime: Answers,
    /// Where it works [default: the current folder]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// What claude, codex or gemini may do there: read files, edit them, or everything that you may [default: what you
    /// answered when it joined first, else read]
    #[arg(long, value_name = "WHAT", value_parser = allowed)]
    allow: Option<Allow>,
    /// A channel to put it into; may be given again [default: general, for an agent that is new]
    #[arg(long, value_name = "CHANNEL")]
    channel: Vec<String>,
    /// What this harness remembers; one folder an agent [default: agents/ID in the data folder]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Go on with this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A turn begins this long after a message that looks complete
    #[arg(long, default_value_t = 2_000, value_name = "MS")]
    quiet_ms: u64,
    /// And at most this long after one that looks unfinished [default: two and a half times --quiet-ms]
    #[arg(long, value_name = "MS")]
    unfinished_ms: Option<u64>,
    /// While its author types or goes on, at the latest this long after the first
    #[arg(long, default_value_t = 30_000, value_name = "MS")]
    cap_ms: u64,
    /// What a knock that nobody has to answer is worth: a line in the next turn, or a turn
    #[arg(long, default_value = "hold", value_parser = ["hold", "turn"])]
    knocks: String,
    /// Longest run of the runtime for one turn
    #[arg(long, default_value = "30m", value_parser = span)]
    timeout: Duration,
    /// End when the process that started this has ended
    #[arg(long, hide = true)]
    while_parent_lives: bool,
}

/// What is to answer, as it was written.
#[derive(Clone, Debug)]
enum Answers {
    Command(String),
    /// By the name of the program.
    Program(String),
}

/// A file of the state folder: what the program may do, as a person has agreed.
const AGREED: &str = "allow";

/// A token issued here is of so many seconds; it is renewed by issuing another.
const TTL_S: u64 = 24 * 3_600;

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let _log = serve::log_to_stderr();
    let agent = lookup::member(&args.agent).to_owned();
    let state = match args.state_dir {
        Some(state) => state,
        None => context.target.data()?.join("agents").join(folder_of(&agent)),
    };
    let url = context.target.url()?;
    let folder = working_folder(args.folder.as_deref())?;
    let runtime = runtime(args.runtime, args.allow, &folder, &state)?;
    let mut options = Options::new(url, String::new(), agent, state, runtime);
    options.folder = folder;
    options.session = args.session;
    let unfinished_ms = args.unfinished_ms.unwrap_or(args.quiet_ms.saturating_mul(5) / 2);
    let unfinished_ms = unfinished_ms.max(args.quiet_ms);
    options.quiet = Duration::from_millis(args.quiet_ms);
    options.unfinished = Duration::from_millis(unfinished_ms);
    options.cap = Duration::from_millis(args.cap_ms.max(unfinished_ms));
    options.knocks = if args.knocks == "turn" { Knocks::Turn } else { Knocks::Hold };
    options.turn_timeout = args.timeout;
    let watch = args.while_parent_lives;
    options.notices = Some(tell_of_host(context.print));
    seat(&options, &args.channel, context).await?;
    keep_joined(options, watch, context).await
}

/// Puts the agent into the channels that were named, and one that is new into #general, so that it can be asked at once. What
/// may be refused is asked before anything is made.
async fn seat(options: &Options, named: &[String], context: &Context) -> Result {
    match seat_now(options, named, context).await {
        // The host may come up later; the harness tries until it does.
        Err(failure) if failure.is_unreachable() && named.is_empty() => Ok(()),
        done => done,
    }
}

async fn seat_now(options: &Options, named: &[String], context: &Context) -> Result {
    let (client, agent) = (context.target.client()?, options.agent.as_str());
    let workspace = client.whoami().await?.workspace_id;
    Journal::may_belong_to(&options.state, &workspace)
        .map_err(|e| Failure::new(Code::Conflict, e.to_string()))?;
    for title in put_into_channels(&client, agent, named).await? {
        context.print.note(&format!(
            "{agent} is in {title}; ask it there: chorus post '{title}' '@{agent} …'"
        ));
    }
    Ok(())
}

/// Puts the agent, which is made when it is new, into the channels that were named; one that is new into #general when
/// none was. Gives the titles of those that it was put into.
pub(super) async fn put_into_channels(
    client: &Client,
    agent: &str,
    named: &[String],
) -> Result<Vec<String>> {
    let is_new = lookup::agent(client, agent).await?.is_none();
    if !is_new && named.is_empty() {
        return Ok(Vec::new());
    }
    let channels = lookup::channels_or_general(client, named).await?;
    let operators = |failure: Failure| asks_operator(failure, agent);
    if is_new {
        lookup::make_agent(client, agent).await.map_err(operators)?;
    }
    let mut titles = Vec::new();
    for channel in channels {
        let seated = client.seat(&channel, agent, &SeatPut::default()).await;
        seated.map_err(|error| operators(error.into()))?;
        titles.push(lookup::shown(&client.channel(&channel).await?));
    }
    Ok(titles)
}

/// Says who may do what the caller may not.
pub(super) fn asks_operator(failure: Failure, agent: &str) -> Failure {
    let agent = shown(agent);
    failure.next_if(&[Code::InsufficientAuthority, Code::Forbidden], || {
        format!(
            "ask an operator for its token (chorus token issue --agent {agent} --role worker) and to put it into a \
             channel (chorus channel add CHANNEL {agent}), and give the token with --token"
        )
    })
}

/// Says how it can be asked, where an agent is in no channel.
async fn must_be_somewhere(options: &Options, context: &Context) -> Result {
    let client = Client::new(&options.url, options.token.as_str())?;
    // Where the host is away, it is told of that.
    let Ok(index) = client.index(&ListIndex::default()).await else { return Ok(()) };
    if index.channels.is_empty() {
        let agent = shown(&options.agent);
        context.print.note(&format!(
            "{agent} is in no channel, and nobody can ask it: chorus channel add CHANNEL {agent}"
        ));
    }
    Ok(())
}

/// One line when the host goes away, and one when it is back.
fn tell_of_host(print: Printer) -> mpsc::UnboundedSender<Notice> {
    let (notices, mut told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(notice) = told.recv().await {
            print.note(match notice {
                Notice::Away => "the host is away; waiting for it",
                Notice::Back => "the host is back",
            });
        }
    });
    notices
}

/// Runs the harness; with a new token when one that was issued here has run out.
async fn keep_joined(mut options: Options, watch: bool, context: &Context) -> Result {
    let mut is_first = true;
    loop {
        let (token, origin) = tokio::select! {
            token = token_for(&options.agent, !is_first, context) => token?,
            () = ended(watch) => return Ok(()),
        };
        options.token = token;
        let began = std::time::Instant::now();
        let joins = json!({
            "agent": options.agent,
            "url": options.url,
            "runtime": options.runtime.name(),
            "folder": options.folder,
        });
        context.print.show(&joins, |_| {
            let joins = format!("{} joins {}", options.agent, options.url);
            match &options.runtime {
                Runtime::Command { .. } => joins,
                Runtime::Program(program) => {
                    let (name, may) = (program.name(), program.may());
                    format!("{joins}\n{name} works in {} and {may}", options.folder.display())
                }
            }
        })?;
        if std::mem::take(&mut is_first) {
            must_be_somewhere(&options, context).await?;
        }
        // Stopped by a signal, it ends its runs and leaves the rest to the next harness.
        let ran = chorus_harness::run(options.clone(), ended(watch)).await;
        match ran {
            Ok(()) => return Ok(()),
            // One that was good for a while has run out; one that never was stays refused.
            Err(Error::Refused(_)) if origin == Origin::Issued && began.elapsed() > A_WHILE => {}
            // The host is back and says whose token it is.
            Err(Error::WrongAgent { .. }) if origin == Origin::Unseen => {}
            Err(Error::Refused(error)) => return Err(error.into()),
            Err(error) => return Err(Failure::here("the harness ended", error)),
        }
    }
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// It was given, and is the agent's.
    Given,
    /// It was given, and the host was away when it was to say whose it is.
    Unseen,
    Issued,
}

/// The agent's token: the one given, unless that is somebody's who may issue one for the agent.
async fn token_for(agent: &str, waits: bool, context: &Context) -> Result<(String, Origin)> {
    let client = context.target.client()?;
    let given = given(&context.target.token).map(str::to_owned);
    loop {
        match (client.whoami().await, &given) {
            (Ok(me), Some(token)) if me.member.id == agent => {
                lookup::must_be_agent(me.member)?;
                return Ok((token.clone(), Origin::Given));
            }
            (Ok(_), _) => {
                lookup::agent(&client, agent).await?;
                let issued = issue(agent, &client).await;
                let issued = issued.map_err(|failure| asks_operator(failure, agent))?;
                return Ok((issued, Origin::Issued));
            }
            // The host may come up later; the harness tries until it does.
            (Err(error), Some(token)) if error.is_retryable() => {
                return Ok((token.clone(), Origin::Unseen));
            }
            (Err(error), None) if waits && error.is_retryable() => tokio::time::sleep(LOOK).await,
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// A signal, or the end of the process that started this one.
async fn ended(watch_parent: bool) {
    tokio::select! {
        _ = serve::stopped() => {}
        () = serve::orphaned(watch_parent) => {}
    }
}

const A_WHILE: Duration = Duration::from_secs(60);
/// A host that is away is looked for this often.
const LOOK: Duration = Duration::from_secs(2);

/// A token of an agent, issued by whoever may.
pub(super) async fn issue(agent: &str, operator: &Client) -> Result<String> {
    let agent = agent.to_owned();
    let new = NewToken { agent, role: Authority::Worker.into(), session: None, ttl_s: Some(TTL_S) };
    Ok(operator.issue_token(&new).await?.token)
}

/// A folder's name for a member id, which may hold anything.
pub(crate) fn folder_of(agent: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut name = String::new();
    for c in agent.chars() {
        if safe(c) {
            name.push(c);
        } else {
            name.push_str(&format!("~{:x}", u32::from(c)));
        }
    }
    name
}

/// Whole, so that the same folder is the same wherever the command was typed.
pub(super) fn working_folder(given: Option<&Path>) -> Result<PathBuf> {
    let folder = given.unwrap_or(Path::new("."));
    let whole = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    whole.ok_or_else(|| {
        let why = format!("there is no folder {}", folder.display());
        Failure::usage(why).next("make it, or name another with --folder")
    })
}

/// What is to answer, once it is known that this machine has it.
fn runtime(answers: Answers, allow: Option<Allow>, folder: &Path, state: &Path) -> Result<Runtime> {
    let name = match answers {
        Answers::Command(line) if allow.is_none() => return Ok(Runtime::Command { line }),
        Answers::Command(_) => {
            let why = "--allow is for claude, codex and gemini; a command may do what you may";
            return Err(Failure::usage(why));
        }
        Answers::Program(name) => name,
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    match Program::find(&name, &path) {
        Some(Ok(program)) => {
            let allow = match allow {
                Some(allow) => allow,
                None => agreed(&name, folder, state)?,
            };
            Ok(Runtime::Program(program.that_may(allow)))
        }
        Some(Err(missing)) => {
            let why = format!("{name} is not installed, or not in a folder of PATH");
            let install = format!("install it with: {}", missing.install);
            Err(Failure::new(Code::NotFound, why).next(install))
        }
        None => Err(Failure::usage(format!("there is no runtime {name}"))),
    }
}

/// What the program may do: what was agreed to earlier, else what the person at the terminal says now, which is kept for
/// the next time. Where nobody sits it may read.
fn agreed(name: &str, folder: &Path, state: &Path) -> Result<Allow> {
    let kept = state.join(AGREED);
    if let Ok(word) = fs::read_to_string(&kept) {
        let damaged = |why| Failure::usage(format!("{}: {why}", kept.display()));
        let next = "remove that file, or say it with --allow";
        return allowed(word.trim()).map_err(|why| damaged(why).next(next));
    }
    if !std::io::stdin().is_terminal() {
        return Ok(Allow::Read);
    }
    let folder = folder.display();
    let word = line(&format!("What may {name} do in {folder}: read, edit or full? [read] "))?;
    let word = if word.is_empty() { "read" } else { word.as_str() };
    let allow = allowed(word).map_err(Failure::usage)?;
    let wrote = fs::create_dir_all(state).and_then(|()| fs::write(&kept, word));
    wrote.map_err(|e| Failure::here(&format!("cannot write {}", kept.display()), e))?;
    Ok(allow)
}

fn answers(text: &str) -> std::result::Result<Answers, String> {
    if Program::names().any(|name| name == text) {
        return Ok(Answers::Program(text.to_owned()));
    }
    match text.split_once(':') {
        Some(("cmd", line)) if !line.trim().is_empty() => Ok(Answers::Command(line.to_owned())),
        _ => {
            let programs = Program::names().collect::<Vec<_>>().join(", ");
            Err(format!("a runtime is {programs}, or cmd:'COMMAND' as in cmd:'my-agent --quick'"))
        }
    }
}

fn allowed(text: &str) -> std::result::Result<Allow, String> {
    match text {
        "read" => Ok(Allow::Read),
        "edit" => Ok(Allow::Edit),
        "full" => Ok(Allow::Full),
        _ => Err("it is read, edit or full".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_gets_the_folder_of_another_or_leaves_its_own() {
        assert_eq!(folder_of("reviewer_agent"), "reviewer_agent");
        assert_eq!(folder_of("../a"), "~2e~2e~2fa");
        assert_ne!(folder_of("a.b"), folder_of("a~2eb"));
    }
}
