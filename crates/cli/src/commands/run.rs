//! `chorus run`: a program in this terminal that its agent's mail wakes; detached, one without a terminal.
//!
//! Invariants: the program's own configuration is not written to; the terminal is as it was before, however this ends;
//! and the exit code is the program's.

mod named;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_core::model::member::MemberKind;
use chorus_harness::Program;
use chorus_harness::runner::home::{self, Holder, Home, Life, Saved};
use chorus_harness::runner::{self, Ended, Start};
use chorus_wire::rest::tokens::NewToken;

use super::{Context, join};
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::runners;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Member id of the agent; made when it is new [default: the name of the folder]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// A channel to put it into; may be given again [default: general, for an agent that is new]
    #[arg(long, value_name = "CHANNEL")]
    channel: Vec<String>,
    /// Run it without a terminal; `chorus attach` shows it
    #[arg(long)]
    detach: bool,
    /// Show its screen to nobody on the host's page
    #[arg(long)]
    private: bool,
    /// Go on as the runner of this folder, whose program sleeps
    #[arg(long, hide = true, value_name = "DIR", conflicts_with_all = ["agent", "channel", "detach"])]
    go_on: Option<PathBuf>,
    /// Start its program at once
    #[arg(long, hide = true, requires = "go_on")]
    awake: bool,
    /// codex, claude, gemini, or another program
    #[arg(required_unless_present = "go_on", value_name = "PROGRAM")]
    program: Option<String>,
    /// What the program is started with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// How long the token of a session lasts; it ends with `chorus stop`.
const TTL_S: u64 = 30 * 24 * 3_600;

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if let Some(folder) = args.go_on {
        return go_on(&folder, args.awake).await;
    }
    let program = args.program.unwrap_or_default();
    must_be_installed(&program)?;
    let folder = join::working_folder(None)?;
    let client = context.target.client()?;
    let me = client.whoami().await?;
    // Who has no more than an agent's token runs that agent.
    let given = (*me.member.kind == MemberKind::Agent).then(|| client.token()).flatten();
    let agent = match given {
        Some(_) => named::own(args.agent.as_deref(), &me.member.id)?,
        None => named::agent(args.agent.as_deref(), &folder, &client).await?,
    };
    let home = take(&runners::folder(&me.workspace_id, &agent)?, &agent).await?;
    let url = context.target.url()?;
    let (titles, (session, token)) = match given {
        Some(token) => (Vec::new(), given_session(&home, me.session_id.as_deref(), token)?),
        None => {
            let titles = join::put_into_channels(&client, &agent, &args.channel).await?;
            (titles, session(&home, &agent, &url, &client).await?)
        }
    };
    let saved = Saved {
        url,
        token,
        token_given: given.is_some(),
        agent: agent.clone(),
        workspace: me.workspace_id,
        session,
        program: program.clone(),
        arguments: args.arguments,
        folder,
        resume_id: None,
        private: args.private,
    };
    home.save(&saved).map_err(not_kept)?;
    let place = titles.first().map(|title| format!(" in {title}")).unwrap_or_default();
    let named = line(&agent);
    if args.detach {
        let folder = home.folder().to_owned();
        drop(home);
        detach(&folder, true)?;
        context.print.note(&format!(
            "chorus: {program} runs as @{named}{place}; see it with: chorus attach {named}"
        ));
        return Ok(());
    }
    context.print.note(&format!("chorus: this is @{named}{place}; a mention wakes it here"));
    let folder = home.folder().to_owned();
    let tell = |notice: &str| context.print.note(&format!("chorus: {notice}"));
    let ended = runner::run(home, saved, Start::Here, tell).await.map_err(failed)?;
    let code = match ended {
        Ended::Exited { code, hung_up } => {
            detach(&folder, false)?;
            if !hung_up {
                context.print.note(&format!(
                    "chorus: @{named} sleeps, and a mention brings it back: chorus attach {named}, chorus stop {named}"
                ));
            }
            code
        }
        Ended::Stopped { code } => code.unwrap_or_default(),
    };
    match code {
        0 => Ok(()),
        code => Err(Failure::exited(code)),
    }
}

/// The detached runner of a folder, until it is stopped.
async fn go_on(folder: &Path, awake: bool) -> Result {
    let _log = super::serve::log_to_stderr();
    // Started from a terminal, it is no longer of it. A leader of its group, whom nobody signals, may stay.
    let _ = nix::unistd::setsid();
    let home = Home::open(folder).map_err(not_kept)?;
    let Some(saved) = home::saved(folder).map_err(not_kept)? else {
        let why = format!("no runner was in {}", folder.display());
        return Err(Failure::new(Code::NotFound, why).next("start one with: chorus run codex"));
    };
    let start = if awake { Start::Detached } else { Start::Asleep };
    runner::run(home, saved, start, |notice| tracing::warn!(notice)).await.map_err(failed)?;
    Ok(())
}

/// Starts the detached runner of a folder.
pub(super) fn detach(folder: &Path, awake: bool) -> Result {
    let wrong = |e: std::io::Error| Failure::here("cannot start the runner", e);
    let program = std::env::current_exe().map_err(wrong)?;
    let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log"));
    let mut command = Command::new(program);
    command.arg("run").arg("--go-on").arg(folder);
    if awake {
        command.arg("--awake");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.map_err(wrong)?);
    // Not in the terminal's foreground group, which is told when the terminal goes.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(wrong)?;
    Ok(())
}

fn must_be_installed(program: &str) -> Result {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(Err(missing)) = Program::find(program, &path) {
        let why = format!("{program} is not installed, or not in a folder of PATH");
        let install = format!("install it with: {}", missing.install);
        return Err(Failure::new(Code::NotFound, why).next(install));
    }
    if program.contains('/') && Path::new(program).exists() {
        if runner::find(program, &path).is_some() {
            return Ok(());
        }
        let why = format!("{} cannot be executed", line(program));
        let next = format!("name a program; of a script: chmod +x {}", line(program));
        return Err(Failure::new(Code::Conflict, why).next(next));
    }
    if runner::find(program, &path).is_none() {
        let why = format!("there is no program {} in the folders of PATH", line(program));
        return Err(Failure::new(Code::NotFound, why).next("give its path, as in ./my-agent"));
    }
    Ok(())
}

/// The agent's folder on this machine: from a runner that sleeps it is taken.
async fn take(folder: &Path, agent: &str) -> Result<Home> {
    Home::take_over(folder).await.map_err(|error| match error {
        home::Error::InUse(Some(Holder { life: Life::Awake, .. })) => {
            let name = line(agent);
            let why = format!("{name} already runs on this machine");
            Failure::new(Code::Conflict, why).next(format!(
                "see it with: chorus attach {name}; or run this as another agent: --agent {name}-2"
            ))
        }
        error => not_kept(error),
    })
}

/// The session that the agent had here, with its token if that still holds; else a new one.
async fn session(home: &Home, agent: &str, url: &str, client: &Client) -> Result<(String, String)> {
    let kept = home::saved(home.folder()).map_err(not_kept)?;
    if let Some(kept) = &kept
        && kept.url == url
        && Client::new(url, kept.token.as_str())?.whoami().await.is_ok()
    {
        return Ok((kept.session.clone(), kept.token.clone()));
    }
    let session = match kept {
        Some(kept) => kept.session,
        None => format!("sess_{}", uuid::Uuid::now_v7().simple()),
    };
    let new = NewToken {
        agent: agent.to_owned(),
        role: Authority::Worker.into(),
        session: Some(session.clone()),
        ttl_s: Some(TTL_S),
    };
    let issued = client.issue_token(&new).await.map_err(Failure::from);
    let issued = issued.map_err(|failure| join::asks_operator(failure, agent))?;
    Ok((session, issued.token))
}

/// The session that a given token names, or the agent had here, or a new one.
fn given_session(home: &Home, named: Option<&str>, token: &str) -> Result<(String, String)> {
    let kept = home::saved(home.folder()).map_err(not_kept)?.map(|kept| kept.session);
    let session = named.map(str::to_owned).or(kept);
    let session = session.unwrap_or_else(|| format!("sess_{}", uuid::Uuid::now_v7().simple()));
    Ok((session, token.to_owned()))
}

fn not_kept(error: home::Error) -> Failure {
    Failure::here("cannot keep what the runner must remember", error)
}

fn failed(error: runner::Error) -> Failure {
    Failure::here("the runner ended", error)
}
