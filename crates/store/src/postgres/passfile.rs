//! The password file (`~/.pgpass`, `PGPASSFILE`): lines of `host:port:database:user:password`, of
//! which the first match counts. A file that others may read is ignored, as in libpq.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

pub(super) fn find(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let path = variable("PGPASSFILE").map(PathBuf::from);
    let path = path.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")))?;
    let found = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    if found.mode() & 0o077 != 0 {
        tracing::warn!(file = %path.display(), "others may read the password file; it is not used");
        return None;
    }
    let text = fs::read_to_string(&path).ok()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        // Sockets in the default directory use this name.
        Host::Unix(path) if path.ends_with("postgresql") || path.ends_with("tmp") => {
            "localhost".into()
        }
        Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [&host, &port, config.get_dbname()?, config.get_user()?];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password(line, &wanted))
}

/// The password of a line whose four fields match.
fn password(line: &str, wanted: &[&str; 4]) -> Option<String> {
    let mut fields = fields(line).into_iter();
    for wanted in wanted {
        let field = fields.next()?;
        if field != "*" && field != *wanted {
            return None;
        }
    }
    fields.next()
}

/// Fields end with a colon; a backslash escapes the next character.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut letters) = (vec![String::new()], line.chars());
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            _ => {}
        }
        let letter = if letter == '\\' { letters.next() } else { Some(letter) };
        if let (Some(field), Some(letter)) = (fields.last_mut(), letter) {
            field.push(letter);
        }
    }
    fields
}
