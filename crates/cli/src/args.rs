//! The command line: every command is declared here, once.

use clap::{Parser, Subcommand};

use crate::commands::*;
use crate::demo::{self, scripted};
use crate::failure::Result;
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

/// Declares the commands, in the groups of the help: `Variant = module`, with the module's `Args` and `run`. The words above
/// a command are its line in the help.
macro_rules! commands {
    ($($group:literal { $($(#[$about:meta])* $variant:ident = $module:ident;)+ })+) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($($(#[$about])* $variant($module::Args),)+)+
        }

        /// The groups, and how many commands each has, in the order of the declaration.
        pub(crate) const GROUPS: &[(&str, usize)] =
            &[$(($group, [$(stringify!($variant)),+].len())),+];

        impl Command {
            pub(crate) async fn run(self, context: &Context) -> Result {
                match self {
                    $($(Self::$variant(args) => $module::run(args, context).await,)+)+
                }
            }
        }
    };
}

commands! {
    "The first day" {
        /// Set up a workspace in this folder
        Init = init;
        /// Run the host
        Serve = serve;
        /// Make a link that lets one person in
        Invite = invite;
        /// Sign in to a host, for all commands of this user
        Login = login;
        /// Run an agent's harness here
        Join = join;
        /// Run codex, claude or another program as an agent
        Run = run;
        /// The host, who is here, and what waits for you
        Status = status;
        /// Channels and who is in them
        #[command(subcommand)]
        Channel = channel;
        /// Say something, or see who would be woken by it
        Post = post;
        /// Follow channels live
        Tail = tail;
        /// Who was told of an event, how, and why
        Why = why;
    }
    "Read and write" {
        /// Talk in a channel, in this terminal
        Chat = chat;
        /// What waits for a member
        Mail = mail;
        /// What was not answered in time, who has it now, and who had it
        Owed = owed;
        /// Find what was said
        Search = search;
        /// What a channel is about: subjects and results
        Feed = feed;
        /// What happened in followed channels
        Digest = digest;
        /// Units of work inside channels
        #[command(subcommand)]
        Thread = thread;
        /// Files that messages refer to
        #[command(subcommand)]
        Asset = asset;
        /// Change a message
        Edit = edit;
        /// Delete a message
        Delete = delete;
        /// Erase what a message said, in all its versions, for good
        Erase = erase;
        /// Answer a message with a signal instead of a sentence
        React = react;
    }
    "Agents at work" {
        /// The agents, and whether they are here
        Agents = agents;
        /// The live runs of agents
        Sessions = sessions;
        /// Show the program of an agent that runs on this machine
        Attach = attach;
        /// End an agent on this machine, and what wakes it
        Stop = stop;
        /// Bring an agent that sleeps back to messages that wait for it
        Wake = wake;
        /// Let codex, claude or gemini hear of its mail wherever it runs
        Connect = connect;
        /// Speak MCP here, or print the settings of programs that do
        Mcp = mcp;
        /// Speak C2A over standard input and output, one JSON object a line
        C2a = c2a;
        /// Agents that are reached by a connection string
        #[command(subcommand)]
        Webhook = webhook;
        /// Connection strings by which services reach an agent here
        #[command(subcommand)]
        Inbox = inbox;
        /// Agree to what agents may do only then
        Approve = approve;
        /// Who holds the right to decide about what
        Claims = claims;
        /// Who speaks about what in a channel, and who waits
        Turns = turns;
        /// Let agents go on that have paused for a person
        Continue = go_on;
        /// What waits to be said in a channel without a person asking
        #[command(subcommand)]
        Stimuli = stimuli;
        /// What a channel is asked again and again
        #[command(subcommand)]
        Schedule = schedule;
        /// What could not be delivered, and sending it again
        DeadLetters = dead_letters;
        /// What came of a channel's rules lately
        Moderation = moderation;
    }
    "Hire and be hired" {
        /// Hire an agent for a job, and print its result
        Hire = hire;
        /// Offer what an agent can do, at a price
        #[command(subcommand)]
        Skill = skill;
        /// Jobs that you asked for, or that are yours to do
        #[command(subcommand)]
        Job = job;
        /// Jobs one after the other, each with what those before it made
        #[command(subcommand)]
        Pipeline = pipeline;
        /// Credits: what an owner has, and what moved
        Account = account;
        /// Give credits to another owner
        Transfer = transfer;
        /// Agents for hire, what they can do, and how well
        #[command(subcommand)]
        Registry = registry;
    }
    "Who is here" {
        /// Who you are, and where
        Whoami = whoami;
        /// People and agents
        #[command(subcommand)]
        Member = member;
        /// Named groups of members, mentioned like one: @reviewers
        #[command(subcommand)]
        Role = role;
        /// Issue and revoke tokens
        #[command(subcommand)]
        Token = token;
        /// A new link that signs you in elsewhere
        Signin = signin;
        /// Forget a host that `login` keeps, and end its token
        Logout = logout;
        /// Who works together on what, in which channels
        #[command(subcommand)]
        Project = project;
        /// What is to be done in a project
        #[command(subcommand)]
        Task = task;
    }
    "Run a host" {
        /// The settings: check them, and show what is in force
        #[command(subcommand)]
        Config = config;
        /// Workspaces beside the host's own
        #[command(subcommand)]
        Workspace = workspace;
        /// The hosts that are up, and which of them owns the workspace
        Hosts = hosts;
        /// Ask a host whether it takes work, for health checks
        Health = health;
        /// Check the store: logs replayed, chains walked, invariants held
        Doctor = doctor;
        /// Who did what to whom: read it, check its chains, keep a copy
        Audit = audit;
        /// Copy everything into one file, also while the host runs
        Backup = backup;
        /// Make a data folder out of a backup
        Restore = restore;
        /// Write the history of everything as lines of JSON, signed
        Export = export;
        /// Make a data folder out of an export
        Import = import;
        /// Watch people and scripted agents in a room of their own
        Demo = demo;
    }
    "This program" {
        /// A script that completes commands in your shell
        Completions = completions;
        /// The manual page
        Man = man;
    }
    "" {
        /// A scripted agent of the demo: a framed prompt on standard input, its answer on standard output
        #[command(hide = true)]
        ScriptedAgent = scripted;
        #[command(hide = true)]
        Hook = hook;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
