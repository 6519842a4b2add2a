//! The help of `chorus`: its commands by task, those of the first day first.

use clap::Command;

/// What each group is for, and its commands in the order in which they are needed.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "The first day",
        &["init", "serve", "invite", "login", "join", "status", "channel", "post", "tail", "why"],
    ),
    (
        "Read and write",
        &[
            "chat", "mail", "owed", "search", "feed", "digest", "thread", "asset", "edit",
            "delete", "erase", "react",
        ],
    ),
    (
        "Agents at work",
        &[
            "agents",
            "sessions",
            "mcp",
            "c2a",
            "webhook",
            "inbox",
            "approve",
            "claims",
            "turns",
            "continue",
            "stimuli",
            "schedule",
            "dead-letters",
            "moderation",
        ],
    ),
    ("Who is here", &["whoami", "member", "role", "token", "signin", "project", "task"]),
    ("Run a host", &["config", "doctor", "audit", "backup", "restore", "export", "import", "demo"]),
    ("This program", &["completions", "man", "help"]),
];

/// Shows the commands in groups instead of one list of fifty.
pub(crate) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for name in names {
            text.push_str(&format!("  {name:<14}{}\n", about(&command, name)));
        }
        text.push('\n');
    }
    command
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{options}")
        .before_help(text)
}

fn about(command: &Command, name: &str) -> String {
    if name == "help" {
        return "Help on a command: chorus help COMMAND".to_owned();
    }
    let found = command.find_subcommand(name).and_then(Command::get_about);
    found.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// Columns of the terminal that help is written for.
    const WIDTH: usize = 80;

    #[test]
    fn every_command_is_in_one_group() {
        let cli = Cli::command();
        let mut shown: Vec<_> = cli.get_subcommands().filter(|c| !c.is_hide_set()).collect();
        shown.sort_by_key(|command| command.get_name());
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.retain(|name| *name != "help");
        grouped.sort_unstable();
        let shown: Vec<_> = shown.into_iter().map(Command::get_name).collect();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn the_list_of_commands_fits_80_columns() {
        let help = grouped(Cli::command()).render_help().to_string();
        let list = help.lines().take_while(|line| !line.starts_with("Options:"));
        for line in list {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(help.contains("The first day:\n  init"), "{help}");
    }
}
