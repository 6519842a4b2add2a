//! The usual keys: by which letters each is recognised, and what it looks like.
//!
//! A pattern is as narrow as its issuer's format allows: a text that is blacked out by mistake is lost. None
//! has to look behind its own end to know that it matches, so that finding all of a text is one pass.

use std::sync::OnceLock;

use regex::Regex;

pub(super) struct Pattern {
    pub name: &'static str,
    /// One of these is in every text that it matches.
    pub letters: &'static [&'static str],
    /// Empty for what is found otherwise.
    shape: &'static str,
    /// What a shape cannot say.
    pub is_secret: fn(&str) -> bool,
    regex: OnceLock<Option<Regex>>,
}

const fn pattern(
    name: &'static str,
    letters: &'static [&'static str],
    shape: &'static str,
) -> Pattern {
    Pattern { name, letters, shape, is_secret: |_| true, regex: OnceLock::new() }
}

impl Pattern {
    const fn only(mut self, is_secret: fn(&str) -> bool) -> Self {
        self.is_secret = is_secret;
        self
    }

    /// Built when its letters are first seen; a test builds them all.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let built = self.regex.get_or_init(|| match self.shape {
            "" => None,
            shape => Regex::new(shape).ok(),
        });
        built.as_ref()
    }

    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        self.shape.is_empty() || self.regex().is_some()
    }
}

/// Letters and digits, as a long word of a language never has both.
fn has_digit(secret: &str) -> bool {
    secret.bytes().any(|b| b.is_ascii_digit())
}

/// Not what stands for a password in examples: `user:password@`, `$PASSWORD`, `<password>`, `***`.
fn is_password(secret: &str) -> bool {
    let placeholder = ["password", "pass", "secret", "xxx", "pwd"];
    let lower = secret.to_ascii_lowercase();
    !placeholder.contains(&lower.as_str())
        && !secret.starts_with(['$', '{', '<', '[', '%'])
        && secret.chars().any(|c| c != '*' && c != '.')
}

/// At most 64: the bits of a set of them.
const COUNT: usize = 22;

#[rustfmt::skip]
pub(super) static BUILT_IN: [Pattern; COUNT] = [
    pattern("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    pattern("aws-secret-key", &["aws_secret", "AWS_SECRET", "awsSecret", "SecretAccessKey", "secretAccessKey", "secret_access_key"],
        r#"(?i)secret_?(?:access_?)?key["'\\]{0,4}[ \t]{0,8}(?:=>|[:=])?[ \t]{0,8}["'\\]{0,4}([A-Za-z0-9/+]{40})\b"#),
    pattern("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    pattern("gitlab-token", &["glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glsoat-", "glcbt-", "glagent-", "gloas-", "glimt-"],
        r"\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|oas|imt)-[A-Za-z0-9_-]{20,}"),
    pattern("slack-token", &["xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xoxe.", "xapp-", "hooks.slack.com/"],
        r"\b(?:xox[abeprs][-.][A-Za-z0-9.-]{10,}|xapp-[0-9]-[A-Z0-9]{5,32}-[0-9]{5,32}-[a-f0-9]{16,}|hooks\.slack\.com/services/T[A-Za-z0-9]{5,32}/B[A-Za-z0-9]{5,32}/[A-Za-z0-9]{16,})"),
    pattern("google-key", &["AIza", "ya29.", "GOCSPX-"],
        r"\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    pattern("anthropic-key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    pattern("openai-key", &["sk-"],
        r"\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})").only(has_digit),
    pattern("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    pattern("npm-token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    pattern("pypi-token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    pattern("huggingface-token", &["hf_"], r"\bhf_[A-Za-z]{34}\b"),
    pattern("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    pattern("sendgrid-key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    pattern("docker-token", &["dckr_pat_"], r"\bdckr_pat_[A-Za-z0-9_-]{27}"),
    pattern("vault-token", &["hvs.", "hvb."], r"\bhv[sb]\.[A-Za-z0-9_-]{24,}"),
    pattern("azure-key", &["AccountKey=", "SharedAccessKey="], r"\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{42,}={0,2})"),
    pattern("jwt", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"),
    pattern("private-key", &["PRIVATE KEY"], ""),
    pattern("connection-string", &["://"], r#"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@"'\\<>]*:([^\s/@"'\\<>]+)@"#).only(is_password),
    pattern("bearer-token", &["Bearer", "bearer", "BEARER", "uthorization", "UTHORIZATION"],
        r#"(?i)\b(?:bearer[ \t]{1,4}|authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:basic|token)[ \t]{1,4})([A-Za-z0-9._~+/-]{16,}={0,2})"#).only(has_digit),
    pattern("chorus-token", &["turn_", "tok_", "/signin/", "/inbox/"],
        r"\b(?:turn|tok)_[A-Za-z0-9_-]{60,}|/(?:signin|inbox)/([A-Za-z0-9_-]{24,})"),
];

/// The names of the built-in patterns, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|pattern| pattern.name)
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// Longest line that opens or closes a key: `-----BEGIN OPENSSH PRIVATE KEY-----` and its like.
const MARK: usize = 64;

/// Keys in PEM, up to their end or, where that is missing, as far as it looks like one.
///
/// By hand: "from a beginning to the next end" makes a pattern read to the end of the text for each
/// beginning that has none.
pub(super) fn private_keys(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let mut ends =
        text.match_indices(END).map(|(at, _)| at).filter(|at| mark(text, *at, END).is_some());
    let mut end = ends.next();
    let mut done = 0;
    for (start, _) in text.match_indices(BEGIN) {
        let Some(body) = (start >= done).then(|| mark(text, start, BEGIN)).flatten() else {
            continue;
        };
        while end.is_some_and(|end| end < body) {
            end = ends.next();
        }
        done = match end.and_then(|at| mark(text, at, END)) {
            Some(after) => after,
            None => {
                let rest = text.get(body..).unwrap_or_default();
                let of_key = |b: u8| b.is_ascii_alphanumeric() || b"+/=\r\n\\ \t:,".contains(&b);
                body + rest.bytes().take_while(|b| of_key(*b)).count()
            }
        };
        take(start, done);
    }
}

/// Where the line of a private key that begins at `at` ends.
fn mark(text: &str, at: usize, begin: &str) -> Option<usize> {
    let from = at + begin.len();
    let line = text.as_bytes().get(from..)?;
    let line = line.get(..line.len().min(MARK))?;
    let dashes = line.windows(5).position(|five| five == b"-----")?;
    let kind = std::str::from_utf8(line.get(..dashes)?).ok()?;
    let private = kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK");
    (private && kind.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '))
        .then_some(from + dashes + 5)
}
