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
    /// What the host says of itself while it runs. Logs go to standard error; no level brings tokens or the text of messages
    /// into them.
    Telemetry ["telemetry"] {
        /// How a line of the log is written.
        log_format: LogFormat = LogFormat::Text;
        /// What is logged: off, error, warn, info, debug or trace, for all or for one part: `warn,chorus_server=info`. Libraries say no
        /// more than warnings. `agent` is what agents write into the log themselves: `warn,agent=off`. `CHORUS_LOG` does the same.
        log: String = "warn".to_owned();
    }
    check |telemetry| match crate::logging::filter(&telemetry.log) {
        Ok(_) => Vec::new(),
        Err(why) => vec![("log", format!("is not understood: {why}"))],
    };
}
