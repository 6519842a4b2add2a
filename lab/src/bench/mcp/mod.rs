//! `bench mcp`: `post_message` and `read_messages` over MCP, beside the same over the REST transport in the same round.
//!
//! Each call is one POST on a kept connection, on the stateless wire, so that the generator costs what it costs for
//! REST. A post is the same 300 bytes as in `bench host`, into a hundred threads; a read gives fifty messages of such
//! a length after a cursor. The peer sends the same text and fetches fifty. What waiting costs is in [`wait`].

mod figures;
mod threads;
mod wait;

use std::time::Duration;

use self::threads::{Door, Threads};
use super::Plan;
use super::host::idle::settle;
use super::host::rooms::told_text;
use super::host::server::{Host, Hosts};
use super::load::Outcome;
use super::peers::AgentMail;
use super::report::Samples;

/// Clients at once.
const CLIENTS: [usize; 3] = [1, 16, 64];

/// Measures everything asked for and prints the lines.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let mut samples = Samples::default();
    let hosts = Hosts { chorus: &plan.chorus, base: None };
    if ["post.", "read."].iter().any(|group| plan.wants_some(group)) {
        let host = hosts.start(&[])?;
        let mut threads = Threads::open(&host)?;
        let mail = AgentMail::start(plan.agent_mail.as_deref());
        let mail = mail.inspect_err(|why| samples.absent("mcp_agent_mail", why)).ok();
        eprintln!("warm-up");
        round(plan, plan.window / 5, &host, &mut threads, mail.as_ref(), &mut samples);
        samples.start_over();
        for number in 1..=plan.rounds {
            eprintln!("round {number} of {}", plan.rounds);
            round(plan, plan.window, &host, &mut threads, mail.as_ref(), &mut samples);
        }
    }
    wait::measure(plan, hosts, &mut samples);
    samples.print(figures::FIGURES, None);
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}

/// Takes every measurement once: ours, and right after it the same over REST.
fn round(
    plan: &Plan,
    window: Duration,
    host: &Host,
    threads: &mut Threads,
    mail: Option<&AgentMail>,
    samples: &mut Samples,
) {
    if let Some(mail) = mail {
        let text = told_text();
        samples.take(plan, "mcp_agent_mail.send", &mut || mail.send(window, &text));
        samples.take(plan, "mcp_agent_mail.fetch", &mut || mail.fetch(window));
    }
    for clients in CLIENTS {
        for (door, prefix) in [(Door::Mcp, ""), (Door::Rest, "rest.")] {
            let name = format!("post.c{clients}");
            if plan.wants(&name) {
                let outcome = threads.post(host, window, clients, door);
                keep(samples, &format!("{prefix}{name}"), outcome);
            }
        }
        let name = format!("read.c{clients}");
        if plan.wants(&name) {
            // What was posted is indexed by then: no reader pays for it.
            settle(host);
        }
        for (door, prefix) in [(Door::Mcp, ""), (Door::Rest, "rest.")] {
            if plan.wants(&name) {
                let outcome = threads.read(host, window, clients, door);
                keep(samples, &format!("{prefix}{name}"), outcome);
            }
        }
    }
}

/// Notes a load's rate and its 99th percentile.
fn keep(samples: &mut Samples, name: &str, outcome: Result<Outcome, String>) {
    match outcome {
        Ok(outcome) => {
            samples.add(name, outcome.rate);
            samples.add(&format!("{name}.p99_us"), outcome.p99_us);
        }
        Err(why) => samples.failed(name, &why),
    }
}
