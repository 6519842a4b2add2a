//! Whether a program takes a prompt now, as far as its screen shows. Pure.
//!
//! Enter answers whatever a program asks: whether a folder is trusted, whether a command may run. So keys go only to a
//! screen that shows the program's prompt box and no choice. A program that is not known is not judged.

use super::outcome::Kind;

/// Rows at the end of a screen in which a program asks something.
const ROWS: usize = 20;
/// What stands before the chosen one of several answers.
const MARKS: [char; 6] = ['❯', '›', '●', '○', '>', '▶'];
/// Hints of a choice.
const HINTS: [&str; 7] = [
    "enter to confirm",
    "enter confirm",
    "enter to select",
    "press enter to continue",
    "esc to cancel",
    "esc to skip",
    "esc skip",
];
/// Borders of boxes.
const BORDERS: [char; 6] = ['│', '┃', '║', '▌', '|', ' '];

/// Whether the screen shows the prompt box of a program of this kind, and no question.
pub fn takes_prompts(kind: Kind, screen: &str) -> bool {
    let rows: Vec<&str> = screen.lines().map(|row| row.trim_matches(BORDERS)).collect();
    let rows = rows.into_iter().filter(|row| !row.is_empty()).collect::<Vec<_>>();
    let last = &rows[rows.len().saturating_sub(ROWS)..];
    let begins = |marks: &[char]| last.iter().any(|row| row.starts_with(marks));
    let has_box = match kind {
        Kind::Codex => begins(&['›']),
        Kind::Claude => begins(&['❯', '>']),
        Kind::Gemini => last.iter().any(|row| row.contains("Type your message")),
        Kind::Acp | Kind::Other => return true,
    };
    has_box && !last.iter().any(|row| is_choice(row))
}

fn is_choice(row: &str) -> bool {
    let lower = row.to_lowercase();
    let chosen = row.strip_prefix(MARKS).map(str::trim_start).unwrap_or_default();
    let digits = chosen.chars().take_while(char::is_ascii_digit).count();
    let is_numbered = digits > 0 && chosen[digits..].starts_with(['.', ')']);
    is_numbered || HINTS.iter().any(|hint| lower.contains(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_to_an_empty_prompt_box_alone() {
        for (kind, screen, takes) in [
            (Kind::Codex, "› Ask Codex to do anything\n\n  ? for shortcuts", true),
            (Kind::Codex, "  Hooks need review\n› 1. Review hooks\n  2. Trust all", false),
            (Kind::Codex, "  loading", false),
            (Kind::Claude, "──────\n❯ \n──────\n  ? for shortcuts", true),
            (Kind::Claude, "❯ No (recommended)\n  Yes\n\n Enter to confirm · Esc to cancel", false),
            (Kind::Claude, " │ Do you want to proceed? │\n │ ❯ 1. Yes │\n │   2. No │", false),
            (Kind::Gemini, "│ >   Type your message or @path/to/file │", true),
            (Kind::Gemini, "Do you trust the files in this folder?\n● 1. Trust folder", false),
            (Kind::Gemini, "│ ● 1. Yes, allow once │\n > Type your message", false),
            (Kind::Other, "anything? [y/N]", true),
        ] {
            assert_eq!(takes_prompts(kind, screen), takes, "{screen}");
        }
    }

    #[test]
    fn what_was_said_long_ago_is_no_question() {
        let screen = format!("> 1. first\n{}❯ ", "words\n".repeat(30));
        assert!(takes_prompts(Kind::Claude, &screen));
        assert!(!takes_prompts(Kind::Claude, ""));
    }
}
