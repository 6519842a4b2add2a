//! What is logged, as the setting `log` says it.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, ParseError};

/// The target of what agents write into the log themselves.
pub(crate) const AGENT: &str = "agent";

/// Ours: these are logged at the level that is set. Libraries log what they carry, tokens and texts and all, once they
/// are asked for details, and stay at warnings whatever is asked.
const OURS: [&str; 2] = ["chorus", AGENT];

/// It warns of each client that goes away while it waits for news, which is how most of them end, and its warnings
/// have whole calls in them.
const SILENT: &str = "rmcp";

/// What a setting like `debug` or `warn,chorus_server=info` means.
pub fn filter(level: &str) -> Result<EnvFilter, ParseError> {
    // It is understood as it stands, before it is taken apart.
    EnvFilter::try_new(level)?;
    let mut others = LevelFilter::WARN;
    let mut directives = Vec::new();
    for directive in level.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        if let Ok(level) = directive.parse::<LevelFilter>() {
            // Of all: at that level ours, and others no further than warnings.
            others = level.min(LevelFilter::WARN);
            directives.extend(OURS.map(|target| format!("{target}={directive}")));
        } else if is_ours(directive) || says_less(directive) {
            directives.push(directive.to_owned());
        }
    }
    let mut filter = EnvFilter::default().add_directive(others.into());
    for directive in &directives {
        filter = filter.add_directive(directive.parse()?);
    }
    Ok(filter.add_directive(format!("{SILENT}=off").parse()?))
}

/// A word that stands where a level does and is none. By itself it would be taken for the name of a part, and nothing would
/// be logged.
pub(crate) fn unknown_level(level: &str) -> Option<&str> {
    let words = level.split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .filter(|word| !word.contains(['=', '[', ':']))
        .find(|word| word.parse::<LevelFilter>().is_err() && !is_ours(word))
}

fn is_ours(directive: &str) -> bool {
    let target = directive.split(['=', '[', ':']).next().unwrap_or_default();
    OURS.contains(&target) || target.starts_with("chorus_")
}

/// Whether it says no more of a library than is said of it anyway. What names a span, or no level, would let through what
/// libraries carry.
fn says_less(directive: &str) -> bool {
    let level = directive.split_once('=').and_then(|(_, level)| level.parse::<LevelFilter>().ok());
    let less = level.is_some_and(|level| level <= LevelFilter::WARN);
    less && !directive.contains('[') && !directive.starts_with(SILENT)
}
