#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use crate::config::kind::Span;

fn mistakes(text: &str) -> Vec<String> {
    let written = Written { file: Some(("chorus.toml", text)), ..Written::default() };
    load(&written).unwrap_err().iter().map(ToString::to_string).collect()
}

fn variable(name: &str, value: &str) -> Written<'static> {
    let variables = vec![(name.to_owned(), value.to_owned())];
    Written { variables, ..Written::default() }
}

// covers: OPS-60
#[test]
fn a_file_full_of_mistakes_is_told_all_of_them_with_their_lines() {
    let text = "lisen = \"127.0.0.1:1\"\n\
                drain_seconds = 601\n\
                data = 7\n\
                \n\
                tls = true\n\
                dangerous_sync_normal = \"yes\"\n\
                workspace = 1.5\n\
                listen = \"nowhere\"\n\
                log_format = \"json\"\n\
                [telemetry]\n\
                log_format = \"xml\"\n\
                lgo = \"info\"\n\
                [telemetri]\n\
                log = \"info\"\n";
    assert_eq!(
        mistakes(text),
        [
            "chorus.toml:1: lisen is no setting; the nearest is listen",
            "chorus.toml:2: drain_seconds = 601: allowed is a whole number, from 0 to 600",
            "chorus.toml:3: data = 7: allowed is a path",
            "chorus.toml:5: tls is a section: write [tls]",
            "chorus.toml:6: dangerous_sync_normal = \"yes\": allowed is true or false",
            "chorus.toml:7: workspace = 1.5: allowed is a text",
            "chorus.toml:8: listen = \"nowhere\": allowed is an address and a port, such as 127.0.0.1:7600",
            "chorus.toml:9: log_format is no setting; the nearest is telemetry.log_format",
            "chorus.toml:11: telemetry.log_format = \"xml\": allowed is text or json",
            "chorus.toml:12: telemetry.lgo is no setting; the nearest is telemetry.log",
            "chorus.toml:13: telemetri is no setting; the nearest is telemetry",
        ]
    );
}

// covers: OPS-60
#[test]
fn what_is_no_toml_is_told_beside_the_other_mistakes() {
    let told = mistakes("listen = \nlisen = 1\ndata = \"a\"\ndata = \"b\"\n");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("chorus.toml:1: "), "{told:?}");
    assert!(told[1].starts_with("chorus.toml:2: lisen"), "{told:?}");
    assert!(told[2].starts_with("chorus.toml:4: "), "{told:?}");
}

// covers: OPS-60
#[test]
fn settings_that_do_not_fit_each_other_are_told() {
    let told = mistakes("[tls]\n\ncert = \"a.pem\"\n");
    assert_eq!(told, ["chorus.toml:3: tls.cert needs tls.key beside it"]);
    // Beside the mistakes in other sections, in their order.
    let told = mistakes("[tls]\ncert = \"a.pem\"\n[limts]\n[redaction]\npatterns = [\"(\"]\n");
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "chorus.toml:2: tls.cert needs tls.key beside it");
    assert_eq!(told[1], "chorus.toml:3: limts is no setting; the nearest is limits");
    assert!(told[2].starts_with("chorus.toml:5: redaction.patterns "), "{told:?}");
    assert_eq!(
        mistakes("public_url = \"chorus.example\""),
        ["chorus.toml:1: public_url is no address such as https://chorus.example"]
    );
}

// covers: OPS-430
#[test]
fn issuers_do_not_speak_for_the_same_members() {
    let issuer = |name: &str, iss: &str, more: &str| {
        format!(
            "[issuers.{name}]\nissuer = \"{iss}\"\njwks_url = \"https://a.example/jwks\"\n{more}\n"
        )
    };
    let ann = "members = [\"ann\"]";
    let (one, other) = (issuer("a", "https://a/", ""), issuer("b", "https://b/", ""));
    let told = mistakes(&(one.clone() + &other));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("issuers.b.members must name") && told[0].contains("[issuers.a]"));
    let told = mistakes(&(one.clone() + &issuer("b", "https://a/", ann)));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("chorus.toml:6: issuers.b.issuer is that of"), "{told:?}");
    let text = one + &issuer("b", "https://b/", ann);
    load(&Written { file: Some(("chorus.toml", &text)), ..Written::default() }).unwrap();
}

// covers: OPS-62
#[test]
fn a_variable_overrides_the_file_and_a_flag_the_variable() {
    let text = "workspace = \"file\"\ndrain_seconds = 1\n[telemetry]\nlog = \"info\"";
    let mut written = variable("CHORUS_WORKSPACE", "variable");
    written.variables.push(("CHORUS_DRAIN_SECONDS".to_owned(), "2".to_owned()));
    // An empty variable is none.
    written.variables.push(("CHORUS_TELEMETRY_LOG".to_owned(), String::new()));
    written.file = Some(("chorus.toml", text));
    written.flags = vec![("workspace".to_owned(), "flag".to_owned(), "--set".to_owned())];
    let loaded = load(&written).unwrap();
    assert_eq!(loaded.settings.basics.workspace, "flag");
    assert_eq!(loaded.settings.basics.drain_seconds, 2);
    assert_eq!(loaded.settings.telemetry.log, "info");
    let from = |path: &str| loaded.sources[path].to_string();
    assert_eq!(from("workspace"), "--set");
    assert_eq!(from("drain_seconds"), "CHORUS_DRAIN_SECONDS");
    assert_eq!(from("telemetry.log"), "chorus.toml:4");
    let wrong = load(&variable("CHORUS_DRAIN_SECONDS", "soon")).unwrap_err();
    assert_eq!(
        wrong[0].to_string(),
        "CHORUS_DRAIN_SECONDS: drain_seconds = \"soon\": allowed is a whole number, from 0 to 600"
    );
}

// covers: OPS-62
#[test]
fn every_setting_has_a_variable_of_its_own() {
    let mut names: Vec<String> =
        Settings::sections().into_iter().flat_map(|(_, _, e)| e).map(|e| e.variable()).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn a_variable_that_sets_nothing_is_noticed() {
    let variables = [("CHORUS_LISEN", "x"), ("CHORUS_URL", "x"), ("OTHER", "x")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(
        unknown_variables(&variables, &["CHORUS_URL"]),
        ["CHORUS_LISEN sets nothing; the nearest is CHORUS_LISTEN"]
    );
}

#[test]
fn spans_are_read_and_shown() {
    use crate::config::kind::Kind;
    for (text, span) in
        [("90s", Span::seconds(90)), ("15m", Span::minutes(15)), ("7d", Span::days(7))]
    {
        let read = Span::read(&Given::Text(text.to_owned())).unwrap();
        assert_eq!(read, span);
        assert_eq!(read.to_string(), text);
    }
    assert_eq!(Span::read(&Given::Raw("250ms".to_owned())).unwrap().ms(), 250);
    for bad in ["", "5", "h", "-1h", "5 m", "99999999999999999999d", "1é"] {
        assert_eq!(Span::read(&Given::Text(bad.to_owned())), Err(None), "{bad}");
    }
}

// covers: OPS-62
#[test]
fn a_list_is_written_in_a_variable_as_in_the_file_or_with_commas() {
    let patterns = |value: &str| {
        let loaded = load(&variable("CHORUS_REDACTION_PATTERNS", value))?;
        Ok::<_, Vec<Mistake>>(loaded.settings.redaction.patterns.len())
    };
    assert_eq!(patterns(r#"["hunter[0-9]+", 'ACME-[0-9]{6,8}']"#).unwrap(), 2);
    assert_eq!(patterns("hunter[0-9]+, ACME-[0-9]{6}").unwrap(), 2);
    let refused = patterns("[0-9]{6}").unwrap_err();
    assert!(refused[0].to_string().contains("is a list as in the file"), "{}", refused[0]);
}
