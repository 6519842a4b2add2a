//! `chorus config`: the settings before a host is started with them. Nothing is asked of a host.

use chorus_server::config::load::{Loaded, Mistake, unknown_variables};
use chorus_server::config::{Settings, page};
use chorus_server::unusable;
use clap::Subcommand;
use serde_json::{Value, json};

use super::Context;
use super::serve::Set;
use crate::failure::{Failure, Result};
use crate::host::{mistaken, variables};
use crate::print::{line, table};

/// Variables that commands and runtimes take, and that are no settings of a host.
const OF_COMMANDS: [&str; 10] = [
    "CHORUS_BIN",
    "CHORUS_CA",
    "CHORUS_CONFIG",
    "CHORUS_LOG",
    "CHORUS_TOKEN",
    "CHORUS_TURN_TOKEN",
    "CHORUS_C2A_URL",
    "CHORUS_MCP_URL",
    "CHORUS_REMOTE_MCP",
    "CHORUS_URL",
];

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Read chorus.toml and the CHORUS_* variables, and name every mistake with its line
    Check(Set),
    /// What is in force, and where each value came from; secrets are hidden
    Show(Set),
    /// docs/settings.md
    #[command(hide = true)]
    Page,
    /// chorus.toml.sample
    #[command(hide = true)]
    Sample,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    match args {
        Args::Check(set) => check(&set, context),
        Args::Show(set) => {
            let loaded = context.target.settings(set.flags())?.map_err(mistaken)?;
            let rows = rows(&loaded);
            context.print.show(&as_json(&rows), |_| as_table(&rows))
        }
        Args::Page => context.print.text(&page::page()),
        Args::Sample => context.print.text(&page::sample()),
    }
}

fn check(set: &Set, context: &Context) -> Result {
    let file = context.target.file()?.map(|(name, _)| name);
    let (mistakes, loaded) = match context.target.settings(set.flags())? {
        Ok(loaded) => (Vec::new(), Some(loaded)),
        Err(mistakes) => (mistakes, None),
    };
    let mistakes: Vec<Mistake> = match &loaded {
        Some(loaded) => unusable(&loaded.settings)
            .into_iter()
            .map(|(path, what)| loaded.mistake(path, what))
            .collect(),
        None => mistakes,
    };
    let warnings = unknown_variables(&variables(), &OF_COMMANDS);
    let shown: Vec<Value> = mistakes.iter().map(mistake).collect();
    let answer = json!({
        "ok": mistakes.is_empty(), "file": file, "mistakes": shown, "warnings": warnings,
    });
    context.print.show(&answer, |_| {
        let mut lines: Vec<String> = mistakes.iter().map(|m| line(&m.to_string())).collect();
        lines.extend(warnings.iter().map(|warning| format!("warning: {}", line(warning))));
        if mistakes.is_empty() {
            let set = loaded.map_or(0, |loaded| loaded.sources.len());
            let file = file.as_deref().unwrap_or("no chorus.toml");
            lines.push(format!("{file}: {set} setting(s), all is well"));
        }
        lines.join("\n")
    })?;
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::told().wrongly_written()) }
}

fn mistake(mistake: &Mistake) -> Value {
    json!({
        "source": mistake.source.to_string(), "setting": mistake.path, "what": mistake.what,
    })
}

/// Setting, value, and where it came from.
fn rows(loaded: &Loaded) -> Vec<[String; 3]> {
    let settings = &loaded.settings;
    let mut rows = Vec::new();
    let mut put = |section: &str, path: String, key: &str| {
        let source = loaded.sources.get(&path).map_or("default".to_owned(), ToString::to_string);
        rows.push([path, settings.show(section, key), source]);
    };
    for (section, _, entries) in Settings::sections() {
        for entry in entries {
            let key = entry.path.rsplit('.').next().unwrap_or_default();
            match section {
                "issuers.NAME" => settings.issuers.keys().for_each(|name| {
                    let section = format!("issuers.{name}");
                    put(&section, format!("{section}.{key}"), key);
                }),
                _ => put(section, entry.path.clone(), key),
            }
        }
    }
    rows
}

fn as_json(rows: &[[String; 3]]) -> Value {
    let rows = rows
        .iter()
        .map(|[path, value, from]| json!({"setting": path, "value": value, "from": from}));
    json!({ "settings": rows.collect::<Vec<_>>() })
}

fn as_table(rows: &[[String; 3]]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| line(cell)).collect()).collect();
    table("", &["SETTING", "VALUE", "FROM"], &rows)
}
