//! The corpus: what has to go, and what has to stay. Secrets are put together here, so that none of them
//! stands in this file as a whole.

use std::time::{Duration, Instant};

use super::patterns::BUILT_IN;
use super::{Redactor, names};

/// Characters that look random, always the same.
fn noise(count: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            alphabet[(state % alphabet.len() as u64) as usize]
        })
        .collect()
}

const WORDS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn word(count: usize) -> String {
    noise(count, WORDS)
}

/// Pattern, what stands around the secret, and the secret.
fn secrets() -> Vec<(&'static str, [&'static str; 2], String)> {
    let key = |kind: &str| {
        format!("-----BEGIN {kind}-----\n{}\n{}=\n-----END {kind}-----", word(64), word(40))
    };
    vec![
        (
            "aws-access-key",
            ["key ", " it is"],
            format!("AKIA{}", noise(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
        ),
        (
            "aws-access-key",
            ["(", ")"],
            format!("ASIA{}", noise(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
        ),
        ("aws-secret-key", ["aws_secret_access_key = ", "\n"], word(40)),
        ("aws-secret-key", ["\"SecretAccessKey\": \"", "\""], word(40)),
        ("github-token", ["token=", ";"], format!("ghp_{}", word(36))),
        ("github-token", ["https://", "@"], format!("ghs_{}", word(40))),
        ("github-token", ["", ""], format!("github_pat_{}_{}", word(22), word(59))),
        ("gitlab-token", ["PRIVATE-TOKEN: ", ""], format!("glpat-{}", word(20))),
        ("gitlab-token", ["", "."], format!("glrt-{}", word(20))),
        (
            "slack-token",
            ["bot ", "!"],
            format!("xoxb-{}-{}-{}", noise(12, "0123456789"), noise(12, "0123456789"), word(24)),
        ),
        (
            "slack-token",
            ["https://", " hook"],
            format!("hooks.slack.com/services/T{}/B{}/{}", word(9), word(9), word(24)),
        ),
        ("google-key", ["?key=", "&x=1"], format!("AIza{}", word(35))),
        ("google-key", ["", ""], format!("GOCSPX-{}", word(28))),
        ("anthropic-key", ["x-api-key: ", "\r\n"], format!("sk-ant-api03-{}", word(80))),
        ("openai-key", ["OPENAI_API_KEY=", ""], format!("sk-proj-{}", word(64))),
        ("openai-key", ["`", "`"], format!("sk-{}", word(48))),
        ("stripe-key", ["", " live"], format!("sk_live_{}", word(24))),
        ("stripe-key", ["", ""], format!("whsec_{}", word(32))),
        ("npm-token", ["//registry/:_authToken=", ""], format!("npm_{}", word(36))),
        ("pypi-token", ["password: ", ""], format!("pypi-AgEIcHlwaS5vcmc{}", word(80))),
        ("huggingface-token", ["", ""], format!("hf_{}", noise(34, LETTERS))),
        ("digitalocean-token", ["", ""], format!("dop_v1_{}", noise(64, HEX))),
        ("sendgrid-key", ["", ","], format!("SG.{}.{}", word(22), word(43))),
        ("docker-token", ["", ""], format!("dckr_pat_{}", word(27))),
        ("vault-token", ["", ""], format!("hvs.{}", word(90))),
        ("azure-key", ["AccountName=x;AccountKey=", ";"], format!("{}==", word(86))),
        ("jwt", ["a ", " b"], format!("eyJ{}.eyJ{}.{}", word(20), word(80), word(86))),
        ("private-key", ["here:\n", "\nthanks"], key("RSA PRIVATE KEY")),
        ("private-key", ["", ""], key("PRIVATE KEY")),
        ("private-key", ["", " done"], key("OPENSSH PRIVATE KEY")),
        ("private-key", ["", ""], key("PGP PRIVATE KEY BLOCK")),
        ("private-key", ["\"", "\""], key("EC PRIVATE KEY").replace('\n', "\\n")),
        ("private-key", ["cut off ", ""], format!("-----BEGIN PRIVATE KEY-----\n{}", word(64))),
        ("connection-string", ["postgres://app:", "@db.internal:5432/app"], word(12)),
        ("connection-string", ["amqp://", ""], String::new()),
        ("connection-string", ["redis://:", "@cache:6379"], word(12)),
        (
            "connection-string",
            ["mongodb+srv://u:", "@cluster0.example.net/?w=1"],
            "p%40ss".to_owned(),
        ),
        ("bearer-token", ["Authorization: Bearer ", "\n"], word(32)),
        ("bearer-token", ["curl -H 'authorization: Basic ", "'"], format!("{}==", word(30))),
        ("chorus-token", ["turn is ", ""], format!("turn_{}", word(130))),
        ("chorus-token", ["http://127.0.0.1:7600/signin/", " once"], word(43)),
        (
            "chorus-token",
            ["paste https://example.com/inbox/", " there"],
            format!("sk_{}", word(43)),
        ),
        (
            "chorus-token",
            ["https://example.com/channels/ch_1/inbox/", ""],
            format!("tok_{}", word(160)),
        ),
    ]
}

// covers: OPS-111
#[test]
fn the_usual_keys_are_blacked_out_and_nothing_around_them() {
    let redactor = Redactor::new(&[], &[]).unwrap();
    for (name, [before, after], secret) in secrets() {
        let text = format!("{before}{secret}{after}");
        if secret.is_empty() {
            assert!(redactor.text(&text).is_none(), "{text}");
            continue;
        }
        let (clean, count) = redactor.text(&text).unwrap_or_else(|| panic!("{name} stays: {text}"));
        let wanted = format!("{before}[redacted: {name}]{after}");
        // A key within a header or a link is found by more than one pattern; that of its own format is enough.
        assert!(!clean.contains(&secret), "{name}: {clean}");
        assert!(clean == wanted || clean.contains("[redacted: "), "{name}: {clean}");
        assert!(count >= 1);
        assert_eq!(redactor.text(&clean), None, "what was blacked out stays as it is: {clean}");
    }
}

// covers: OPS-111
#[test]
fn what_only_looks_like_a_key_stays() {
    let redactor = Redactor::new(&[], &[]).unwrap();
    for text in [
        "0192f0c1-a2b3-7c4d-8e5f-60718293a4b5".to_owned(),
        noise(40, HEX),
        format!("commit {} and {}", noise(40, HEX), noise(7, HEX)),
        format!("sha256:{}", noise(64, HEX)),
        format!("sha512-{}==", word(86)),
        format!("data:image/png;base64,iVBORw0KGgo{}", word(4000)),
        "msg_0192f0c1a2b37c4d8e5f60718293a4b5 in ch_0192f0c1a2b37c4d8e5f60718293a4b5".to_owned(),
        "we use ghp_ tokens, sk-ant- keys and AKIA ids; the glpat- prefix is GitLab's".to_owned(),
        "the bearer of this message, Bearer authentication, bearer internationalization".to_owned(),
        "Authorization: Bearer $TOKEN".to_owned(),
        "https://example.com/a:b@c and http://[::1]:7600/x?y=z:1@2".to_owned(),
        "postgres://user:password@localhost/db, redis://u:$PASS@h, mysql://u:<pw>@h, ftp://u:***@h"
            .to_owned(),
        "git@github.com:org/repo.git and ssh://git@host:22/x".to_owned(),
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----".to_owned(),
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".to_owned(),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@host".to_owned(),
        "the word ask-before-you-merge-anything-into-the-main-branch".to_owned(),
        "sk-learn-pipeline-with-a-very-long-name-of-no-meaning".to_owned(),
        "secret_key = see the vault; turn_left_at_the_next_corner".to_owned(),
        "eyJhbGciOiJIUzI1NiJ9 is a header".to_owned(),
        "PRIVATE KEY handling; AKIAS are no keys".to_owned(),
        "Grüße 🎉 ://:@ -----BEGIN  -----".to_owned(),
        String::new(),
    ] {
        assert_eq!(redactor.text(&text), None, "{text}");
    }
}

// covers: OPS-112
#[test]
fn patterns_are_turned_off_by_name_and_added() {
    let key = format!("sk_live_{}", word(24));
    let off = Redactor::new(&["stripe-key".to_owned()], &[]).unwrap();
    assert_eq!(off.text(&key), None);
    let own = Redactor::new(&[], &[r"\bACME-[0-9]{6}\b".to_owned()]).unwrap();
    let (clean, count) = own.text(&format!("ACME-123456 and {key}, ACME-1")).unwrap();
    assert_eq!(
        (clean.as_str(), count),
        ("[redacted: custom] and [redacted: stripe-key], ACME-1", 2)
    );
    for bad in ["(", "", "a*", "x{1000}{1000}{1000}"] {
        let Err(why) = Redactor::new(&[], &[bad.to_owned()]) else { panic!("{bad:?} was taken") };
        assert!(why.to_string().contains(&format!("{bad:?}")), "{why}");
    }
    assert_eq!(Redactor::off().text(&key), None);
}

#[test]
fn every_shape_can_be_built_and_every_name_is_used_once() {
    assert!(BUILT_IN.len() <= 64);
    for pattern in &BUILT_IN {
        assert!(pattern.is_whole(), "{}", pattern.name);
        assert_eq!(names().filter(|name| *name == pattern.name).count(), 1);
        assert!(secrets().iter().any(|(name, ..)| *name == pattern.name), "{}", pattern.name);
    }
}

#[test]
fn strings_within_json_are_blacked_out_and_files_are_not() {
    let redactor = Redactor::new(&[], &[]).unwrap();
    let key = format!("ghp_{}", word(36));
    let json = serde_json::json!([
        {"type": "text", "text": format!("it is {key}")},
        {"type": "upload", "name": key, "media_type": "text/plain", "data": key},
        {"url": "x://u:p1", "more": ["b@c", {"k": key}], key.clone(): 1},
    ]);
    let (clean, count) = redactor.json(&json.to_string()).unwrap();
    let clean: serde_json::Value = serde_json::from_str(&clean).unwrap();
    assert_eq!(count, 4);
    assert_eq!(clean[1]["data"], key);
    assert_eq!(clean[0]["text"], "it is [redacted: github-token]");
    assert_eq!(clean[2]["url"], "x://u:p1");
    // An escaped letter hides nothing.
    let hidden = format!(r#"{{"a":"\u0067{}"}}"#, &key[1..]);
    assert_eq!(redactor.json(&hidden).unwrap().0, r#"{"a":"[redacted: github-token]"}"#);
}

/// Texts that make a careless search read everything again for each beginning it finds.
#[test]
fn the_worst_text_of_a_megabyte_takes_no_more_than_a_moment() {
    let redactor = Redactor::new(&[], &[]).unwrap();
    for piece in [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN RSA ",
        "a://b:c",
        "a://",
        "eyJ0eXAiOiJ.eyJ",
        "eyJaaaaaaaa.",
        "sk-",
        "Bearer ",
        "aws_secret_key",
        "xoxb-",
        "ghp_a",
        "plain words without anything to find, ",
        "a.b-c+",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        let begun = Instant::now();
        let _ = redactor.text(&text);
        let took = begun.elapsed();
        // Milliseconds in release; tests are built without optimisation and run beside others.
        assert!(took < Duration::from_secs(2), "{piece:?} takes {took:?}");
    }
}

// covers: OPS-114
#[test]
fn lines_of_the_log_are_blacked_out_whatever_their_fields() {
    use std::io::Write;
    use std::sync::Arc;

    let key = format!("ghp_{}", word(36));
    let mut out = Vec::new();
    let mut lines = super::Lines::new(Arc::new(Redactor::new(&[], &[]).unwrap()), &mut out);
    let line = format!("WARN a harness says member=bot data=\"{key}\" path=/signin/{}\n", word(43));
    // In one piece, as the log writes its lines.
    lines.write_all(line.as_bytes()).unwrap();
    lines.flush().unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(!shown.contains(&key), "{shown}");
    assert!(
        shown.contains("[redacted: github-token]") && shown.contains("/signin/[redacted"),
        "{shown}"
    );
}

// covers: OPS-467
#[test]
fn an_event_of_the_log_is_one_line() {
    use std::io::Write;
    use std::sync::Arc;

    for (given, written) in [
        ("WARN fine\tso member=bot\n", "WARN fine\tso member=bot\n"),
        ("WARN who=a\nERROR forged\r\n", "WARN who=a\\nERROR forged\\r\n"),
        ("x\u{0}\u{85}\u{8}\n\n", "x\\u0000\\u0085\\u0008\\n\n"),
        ("\u{1b}[33mWARN\u{1b}[0m", "\u{1b}[33mWARN\u{1b}[0m"),
    ] {
        let mut out = Vec::new();
        let mut lines = super::Lines::new(Arc::new(Redactor::off()), &mut out);
        lines.write_all(given.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), written);
    }
}
