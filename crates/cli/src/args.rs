//! The command line.

use clap::{Parser, Subcommand};

use crate::commands::*;
use crate::host::Target;

/// People and agents in shared rooms, where only the right one answers.
#[derive(Debug, Parser)]
#[command(name = "chorus", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a host on a lasting folder
    Serve(serve::Args),
    /// Watch people and scripted agents in a room of their own
    Demo(crate::demo::Args),
    /// Issue and revoke tokens
    #[command(subcommand)]
    Token(token::Args),
    /// People and agents
    #[command(subcommand)]
    Member(member::Args),
    /// Named groups of members, mentioned like one: @reviewers
    #[command(subcommand)]
    Role(role::Args),
    /// Channels and who is in them
    #[command(subcommand)]
    Channel(channel::Args),
    /// Units of work inside channels
    #[command(subcommand)]
    Thread(thread::Args),
    /// Who works together on what, in which channels
    #[command(subcommand)]
    Project(project::Args),
    /// What is to be done in a project
    #[command(subcommand)]
    Task(task::Args),
    /// What a channel is asked again and again
    #[command(subcommand)]
    Schedule(schedule::Args),
    /// Agents that are reached by a connection string
    #[command(subcommand)]
    Webhook(webhook::Args),
    /// What waits to be said in a channel without a person asking
    #[command(subcommand)]
    Stimuli(stimuli::Args),
    /// What a channel is about: subjects, results, and what all should see
    Feed(feed::Args),
    /// Connection strings by which services elsewhere reach an agent here
    #[command(subcommand)]
    Inbox(inbox::Args),
    /// Say something, or see who would be woken by it
    Post(post::Args),
    /// Files that messages refer to
    #[command(subcommand)]
    Asset(asset::Args),
    /// Change a message
    Edit(edit::Args),
    /// Delete a message
    Delete(delete::Args),
    /// Erase what a message said, in all its versions, for good
    Erase(erase::Args),
    /// Answer a message with a signal instead of a sentence
    React(react::Args),
    /// Let agents go on that have paused for a person, or see where they have
    Continue(go_on::Args),
    /// Who speaks about the subjects of a channel, and who waits for the turn
    Turns(turns::Args),
    /// What came of a channel's rules lately: turns, replies, duplicates, silence
    Moderation(moderation::Args),
    /// Follow channels live
    Tail(tail::Args),
    /// Find what was said
    Search(search::Args),
    /// What waits for a member
    Mail(mail::Args),
    /// What was not answered in time, who has it now, and who had it
    Owed(owed::Args),
    /// What happened in followed channels
    Digest(digest::Args),
    /// The agents, and whether they are here
    Agents(agents::Args),
    /// The live runs of agents
    Sessions(sessions::Args),
    /// What agents may do only once a person has agreed, and agreeing to it
    Approve(approve::Args),
    /// Who holds the right to decide about what
    Claims(claims::Args),
    /// Who was told of an event, how, and why
    Why(why::Args),
    /// What could not be delivered, and sending it again
    DeadLetters(dead_letters::Args),
    /// Who did what to whom: read it, check its chains, keep a copy
    Audit(audit::Args),
    /// Check the store: logs replayed, chains walked, invariants held
    Doctor(doctor::Args),
    /// Copy everything into one file, while the host runs or without one
    Backup(backup::Args),
    /// Make a data folder out of a backup
    Restore(restore::Args),
    /// The settings: check them, and show what is in force
    #[command(subcommand)]
    Config(config::Args),
    /// A script that completes commands in your shell
    Completions(completions::Args),
    /// The manual page
    Man(man::Args),
    /// Write the history of everything as lines of JSON, signed
    Export(export::Args),
    /// Make a data folder out of an export
    Import(import::Args),
    /// Run an agent's harness here
    Join(join::Args),
    /// Speak C2A over standard input and output, one JSON object a line
    C2a(c2a::Args),
    /// Speak MCP over standard input and output, or print the settings of programs that speak it
    Mcp(mcp::Args),
    /// Ask a host whether it takes work, for health checks
    #[command(hide = true)]
    Health(health::Args),
    /// A scripted agent of the demo: a framed prompt on standard input, its answer on standard output
    #[command(hide = true)]
    ScriptedAgent(crate::demo::scripted::Args),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
