//! The help of `chorus`: its commands by task, those of the first day first.

use clap::Command;

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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// Columns of the terminal that help is written for.
    const WIDTH: usize = 80;

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
