//! The help of `chorus`: its commands by task, those of the first day first.

use clap::{Arg, Command};

use crate::args::GROUPS;

/// Shows the commands in groups instead of one list of fifty.
pub(crate) fn grouped(command: Command) -> Command {
    let about = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<14}{about}\n", command.get_name())
    };
    let lines: Vec<String> = command.get_subcommands().map(about).collect();
    let (mut text, mut lines) = (String::new(), lines.into_iter());
    for (title, count) in GROUPS.iter().filter(|(title, _)| !title.is_empty()) {
        text.push_str(&format!("{title}:\n"));
        text.extend(lines.by_ref().take(*count));
        text.push('\n');
    }
    text.push_str("Help on one of them: chorus help COMMAND\n\n");
    command
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{options}")
        .before_help(text)
}

/// Arguments that mean the same in every command: their id or the name of their value, and what they are.
const COMMON: [(&str, &str); 30] = [
    // By their id.
    ("dedupe", "Replaces what still waits under the same key"),
    ("description", "What it is about"),
    ("display_name", "How the agent is shown"),
    ("limit", "How many at most"),
    ("owner", "The member who owns it"),
    ("purpose", "What it is for; agents are shown it"),
    ("reason", "Why, for the log"),
    ("thread", "A thread, by its id, th_…"),
    ("title", "Its title"),
    ("unbind", "What it is no longer bound to"),
    // By the name of the value.
    ("AGENT", "The agent's member id"),
    ("CHANNEL", "A channel, by its name or id"),
    ("FILE", "The file"),
    ("FILES", "Files from here, or `ast_…` ids"),
    ("ID", "The member's id"),
    ("INBOX", "The inbox's id, inb_…"),
    ("LIMIT", "How many at most"),
    ("MEMBER", "A member, by id"),
    ("MEMBERS", "Members, by id"),
    ("MESSAGE", "The message's id, msg_… or evt_…"),
    ("NAME", "Its name"),
    ("PROJECT", "A project, by its title or id"),
    ("SCHEDULE", "The schedule's id, sch_…"),
    ("STIMULUS", "The stimulus's id, stm_…"),
    ("TASK", "A task, by its title or id"),
    ("TEXT", "The text"),
    ("THREAD", "The thread's id, th_…"),
    ("TITLE", "Its title"),
    ("CONVERSATION", "A conversation, by its title or id"),
    ("EVENT", "The event's id, evt_… or msg_…"),
];

/// The command line with a line of help for every argument.
pub(crate) fn described(command: Command) -> Command {
    command
        .mut_args(|arg| if arg.get_help().is_some() { arg } else { common(arg) })
        .mut_subcommands(described)
}

fn common(arg: Arg) -> Arg {
    let id = arg.get_id().to_string();
    // Without a name of its own the value has that of the argument, in capitals.
    let value = arg.get_value_names().and_then(|names| names.first());
    let value = value.map_or_else(|| id.to_uppercase(), ToString::to_string);
    let found = |name: &str| COMMON.iter().find(|(of, _)| *of == name);
    match found(&id).or_else(|| found(&value)) {
        Some((_, about)) => arg.help(*about),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// Columns of the terminal that help is written for.
    const WIDTH: usize = 80;

    // covers: OPS-484
    #[test]
    fn every_argument_says_what_it_is() {
        fn silent(command: &Command, path: &str, found: &mut Vec<String>) {
            for arg in command.get_arguments().filter(|arg| arg.get_help().is_none()) {
                found.push(format!("{path} {}", arg.get_id()));
            }
            for command in command.get_subcommands() {
                silent(command, &format!("{path} {}", command.get_name()), found);
            }
        }
        let mut found = Vec::new();
        silent(&described(Cli::command()), "chorus", &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn the_list_of_commands_fits_80_columns() {
        let help = grouped(Cli::command()).render_help().to_string();
        let list = help.lines().take_while(|line| !line.starts_with("Help on"));
        for line in list {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(help.contains("The first day:\n  init"), "{help}");
    }
}
