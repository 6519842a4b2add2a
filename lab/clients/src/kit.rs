//! The clients as they are installed, and how each is run without anything of its user's.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use std::{fs, io};

use serde_json::{Value, json};
use tokio::process::Command;

/// Names the folder into which `cargo xtask test` has installed them.
pub const VARIABLE: &str = "CHORUS_CLIENTS";
/// A real program on a busy machine; driven by a scripted model it takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where the clients are.
#[derive(Clone, Debug)]
pub struct Kit(PathBuf);

/// Who uses a program, as the program knows it.
#[derive(Clone, Debug)]
pub struct User {
    /// A folder of its own, which is there.
    pub home: PathBuf,
    pub token: String,
    /// What `chorus mcp config` prints for the program.
    pub settings: String,
}

/// A transport as a library is told of it.
#[derive(Clone, Debug)]
pub struct Door {
    pub url: String,
    pub token: String,
}

impl Kit {
    /// The installed ones; none where nobody has said where they are.
    pub fn installed() -> Option<Self> {
        std::env::var_os(VARIABLE).map(|folder| Self(folder.into()))
    }

    /// A program of Node's that a package brought, under the Node that the packages want.
    pub fn node(&self, program: &str) -> Command {
        let bin = self.0.join("node_modules/.bin");
        let mut command = Command::new(bin.join("node"));
        command.arg(bin.join(program));
        command
    }

    /// Where they all are.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The folder of all programs, and of the Node that runs them.
    pub fn programs(&self) -> PathBuf {
        self.0.join("node_modules/.bin")
    }

    /// A script of ours beside the packages it imports.
    pub fn script(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join("node_modules/.bin/node"));
        command.arg(self.0.join(name));
        command
    }

    /// A script of ours under the Python that has its packages.
    pub fn python(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join("python/bin/python"));
        command.arg(self.0.join(name));
        command
    }

    /// Codex, told one thing.
    pub async fn codex(&self, user: &User, model: &str, prompt: &str) -> io::Result<Output> {
        user.write(".codex/config.toml", &(codex_model(model) + &user.settings))?;
        self.codex_as_it_is(user, &codex_says(prompt)).await
    }

    /// Codex with the settings that are in its user's home.
    pub async fn codex_as_it_is(&self, user: &User, arguments: &[&str]) -> io::Result<Output> {
        let mut codex = self.node("codex");
        codex.args(arguments).env("MODEL_KEY", "none").env_remove("CODEX_HOME");
        run(user.alone(codex)).await
    }

    /// Claude Code, told one thing.
    pub async fn claude(&self, user: &User, model: &str, prompt: &str) -> io::Result<Output> {
        user.write(".mcp.json", &user.settings)?;
        let mut arguments = vec!["--strict-mcp-config", "--mcp-config", ".mcp.json"];
        arguments.extend(claude_says(prompt));
        self.claude_as_it_is(user, model, &arguments).await
    }

    /// Claude Code with the settings that are in its user's home.
    pub async fn claude_as_it_is(
        &self,
        user: &User,
        model: &str,
        arguments: &[&str],
    ) -> io::Result<Output> {
        let mut claude = Command::new(self.0.join("node_modules/.bin/claude"));
        claude.args(arguments).env_remove("CLAUDE_CONFIG_DIR");
        claude.envs(claude_asks(model));
        run(user.alone(claude)).await
    }

    /// Gemini CLI, told one thing.
    pub async fn gemini(&self, user: &User, model: &str, prompt: &str) -> io::Result<Output> {
        let mut settings: Value = serde_json::from_str(&user.settings)?;
        let own: Value = serde_json::from_str(&gemini_settings())?;
        for name in ["security", "privacy"] {
            settings[name] = own[name].clone();
        }
        user.write(".gemini/settings.json", &settings.to_string())?;
        self.gemini_as_it_is(user, model, &gemini_says(prompt)).await
    }

    /// Gemini CLI with the settings that are in its user's home.
    pub async fn gemini_as_it_is(
        &self,
        user: &User,
        model: &str,
        arguments: &[&str],
    ) -> io::Result<Output> {
        let mut gemini = self.node("gemini");
        gemini.args(arguments);
        gemini.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", model);
        run(user.alone(gemini)).await
    }
}

/// Makes `home` one in which all three programs speak to this model, and gives the variables that they need.
pub fn speaks_to(home: &Path, model: &str) -> io::Result<Vec<(&'static str, String)>> {
    fs::create_dir_all(home.join(".codex"))?;
    fs::create_dir_all(home.join(".gemini"))?;
    fs::write(home.join(".codex/config.toml"), codex_model(model))?;
    fs::write(home.join(".gemini/settings.json"), gemini_settings())?;
    let own = |text: &str| text.to_owned();
    let mut variables = claude_asks(model);
    variables.extend([
        ("HOME", home.display().to_string()),
        ("MODEL_KEY", own("none")),
        ("GEMINI_API_KEY", own("none")),
        ("GEMINI_MODEL", own("gemini-2.5-flash")),
        ("GOOGLE_GEMINI_BASE_URL", own(model)),
    ]);
    Ok(variables)
}

/// Variables with which Claude Code asks this model, and nobody else.
pub fn claude_asks(model: &str) -> Vec<(&'static str, String)> {
    let own = |text: &str| text.to_owned();
    vec![
        ("ANTHROPIC_BASE_URL", own(model)),
        ("ANTHROPIC_API_KEY", own("none")),
        ("ENABLE_TOOL_SEARCH", own("false")),
        ("DISABLE_AUTOUPDATER", own("1")),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", own("1")),
    ]
}

/// Variables of whoever runs the tests that a program must not see.
pub const STRANGE: [&str; 9] = [
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
];

/// Settings of Codex that have it ask this model.
pub fn codex_model(model: &str) -> String {
    format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n"
    )
}

/// Settings of Gemini CLI that have it ask for a key and tell nobody.
pub fn gemini_settings() -> String {
    let settings = json!({
        "privacy": {"usageStatisticsEnabled": false},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    });
    format!("{settings:#}")
}

pub fn codex_says(prompt: &str) -> [&str; 5] {
    let unasked = "--dangerously-bypass-approvals-and-sandbox";
    ["exec", "--skip-git-repo-check", "--json", unasked, prompt]
}

pub fn claude_says(prompt: &str) -> [&str; 4] {
    ["--allowedTools", "mcp__chorus", "-p", prompt]
}

pub fn gemini_says(prompt: &str) -> [&str; 6] {
    ["-p", prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"]
}

impl User {
    /// A file in its home.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.home))?;
        fs::write(path, text)
    }

    /// With a home of its own, so that nothing of whoever runs this is read or written.
    fn alone(&self, mut command: Command) -> Command {
        command.current_dir(&self.home).env("HOME", &self.home).env("CHORUS_TOKEN", &self.token);
        for variable in STRANGE {
            command.env_remove(variable);
        }
        command
    }
}

/// Runs to its end, with nothing to read; one that hangs is ended.
pub async fn run(mut command: Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await;
    ended.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it did not end by itself"))?
}
