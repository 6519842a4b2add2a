//! `[telemetry]`: what the host says of itself while it runs.

use super::section::{section, words};

words! {
    /// How a line of the log is written.
    LogFormat {
        /// For people.
        "text" = Text,
        /// One JSON object a line.
        "json" = Json,
    }
}

section! {
    /// What the host logs. The log goes to standard error. No level writes tokens or the text of
    /// messages.
    Telemetry ["telemetry"] {
        /// The format of a log line.
        log_format: LogFormat = LogFormat::Text;
        /// What is logged: off, error, warn, info, debug or trace, for everything or for one part:
        /// `warn,chorus_server=info`. Libraries log only warnings. `agent` is what agents write
        /// into the log themselves: `warn,agent=off`. `CHORUS_LOG` does the same.
        log: String = "warn".to_owned();
    }
    check |telemetry| match crate::logging::filter::filter(&telemetry.log) {
        Ok(_) => crate::logging::filter::unknown_level(&telemetry.log)
            .map(|word| ("log", format!("has {word:?}, which is no level: off, error, warn, info, debug or trace")))
            .into_iter()
            .collect(),
        Err(why) => vec![("log", format!("is not understood: {why}"))],
    };
}
