#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

const NAMES: [&str; 12] = [
    "scout",
    "scout-2",
    "builder",
    "Ann",
    "dot.",
    "小明",
    "민수",
    "سارة",
    "Ωμέγας",
    "a",
    "team.core",
    "backend-agents",
];

fn index() -> Index {
    let mut index = Index::default();
    for (n, name) in NAMES.iter().enumerate() {
        index.insert(name, Target::Member(MemberKey(n as u32)));
    }
    index
}

/// The names found, `^` before those that open the text.
fn found(text: &str) -> String {
    let show = |m: &Mention| {
        let Target::Member(MemberKey(n)) = m.target else { return String::new() };
        format!("{}{}", if m.at_start { "^" } else { "" }, NAMES[n as usize])
    };
    mentions(text, &index()).iter().map(show).collect::<Vec<_>>().join(" ")
}

fn check(text: &str, want: &str) {
    assert_eq!(found(text), want, "{text:?}");
}

// covers: ATT-32
#[test]
fn names_are_found_whole_and_longest_first() {
    check("@scout", "^scout");
    check("@SCOUT, look", "^scout");
    check("ask @scout-2 now", "scout-2");
    check("ask @scout-3 now", "");
    check("ask @scouts", "");
    check("ask @scout. And @dot. too", "scout dot.");
    check("ask @scout.. or @scout--please", "scout scout");
    check("@scout: @builder, @Ann? @a!", "^scout ^builder ^Ann ^a");
    check("(@scout) [@builder] *@ann* \"@a\" **@team.core**", "^scout ^builder ^Ann ^a ^team.core");
    check("_@scout_ is @scout's", "^scout scout");
    check("@everyone @here @channel", "");
    check("@@scout @ scout", "scout");
    check("@scout@builder", "^scout ^builder");
}

#[test]
fn names_of_any_script_are_found() {
    check("请@小明看一下", "小明");
    check("@小明请看", "^小明");
    check("@小明2", "");
    check("@민수야 봐줘", "^민수");
    check("@scout에게", "^scout");
    check("يا @سارة، هل", "سارة");
    check("@ΩΜΈΓΑΣ", "^Ωμέγας");
    check("＠scout 见", "^scout");
    // Lookalike letters of another script form another name.
    check("@sсout", "");
    check("\u{202e}@scout\u{202c}", "^scout");
    check("🎉🎉🎉", "");
}

// covers: ATT-31
#[test]
fn code_quotes_links_and_addresses_name_nobody() {
    check("`@scout`", "");
    check("```\n@scout\n```", "");
    check("> @scout said\nyes @builder", "builder");
    check("> @scout said\n@builder yes", "^builder");
    check("https://x.y/@scout", "");
    check("x.org/@scout and [@scout](x)", "");
    check("mail bob@scout or bob+@scout, bob@scout.com", "");
    check("@scout@host.example and @scout/pkg", "");
    check("\\@scout", "");
    check("done.@scout look, -@builder too", "scout builder");
}

#[test]
fn a_plain_name_opens_a_message() {
    check("scout: can you look", "^scout");
    check("scout, can you look", "^scout");
    check("Scout : look", "^scout");
    check("scout, builder: look", "^scout ^builder");
    check("小明：看", "^小明");
    check("> old words\nscout: yes", "^scout");
    check("scout can you", "");
    check("tell scout: no", "");
    check("scout:8080 is open, a://b", "");
    check("scout: @builder", "^scout ^builder");
    check("hey @scout, hi", "^scout");
    check("`x` @scout", "scout");
    check("please @scout", "scout");
}

// covers: ATT-32
#[test]
fn an_ambiguous_name_is_nobody_until_one_gives_it_up() {
    let mut index = index();
    let role = Target::Role(RoleKey(1));
    index.insert("SCOUT", role);
    assert_eq!(index.get("scout"), None);
    assert!(index.is_taken("Scout"));
    assert!(mentions("@scout", &index).is_empty());
    index.rename("scout", "ranger", Target::Member(MemberKey(0)));
    assert_eq!(index.get("Scout"), Some(role));
    assert_eq!(index.get("ranger"), Some(Target::Member(MemberKey(0))));
    index.remove("ranger", Target::Member(MemberKey(0)));
    assert!(!index.is_taken("ranger"));
    // An ambiguous longer name does not fall back to a shorter one.
    index.insert("dot.", role);
    index.insert("dot", Target::Member(MemberKey(9)));
    assert!(mentions("@dot.", &index).is_empty());
}

#[test]
fn handles_are_short_visible_and_have_a_letter() {
    for good in ["a", "9", "a-b_c.d", "小明", "علی‌رضا", "é", "e\u{301}", "हिन्दी", &"x".repeat(64)]
    {
        assert!(valid_handle(good), "{good:?}");
    }
    let long = "x".repeat(65);
    let huge = "x".repeat(1 << 20);
    for bad in [
        "",
        "-",
        "..",
        "a b",
        "@a",
        "a@",
        "a\n",
        "a\u{200d}b",
        "a:b",
        "a/b",
        "🎉",
        "a\u{202e}",
        "\u{301}a",
        &long,
        &huge,
    ] {
        assert!(!valid_handle(bad), "{bad:?}");
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    let index = index();
    for piece in ["@", "@a", "@a ", "@a@", "@小", "@a.b@", "a,", "@.", "-@", "\\@", "@a/", "ا@سارة"]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        assert!(mentions(&text, &index).len() <= limits::MENTIONS_PER_MESSAGE);
    }
    let one = format!("@{}", "x".repeat(1 << 20));
    assert!(mentions(&one, &index).is_empty());
}

proptest! {
    #[test]
    fn every_mention_reads_as_a_name_of_its_target(text in "([@＠.,:`>\\[\\]()/\\\\ \n_-]|scout|ann|小明|민수|ا|a|2|🎉){0,40}") {
        let index = index();
        let mut last = 0;
        for mention in mentions(&text, &index) {
            prop_assert!(mention.start >= last && mention.end > mention.start);
            last = mention.end;
            let shown = text[mention.start..mention.end].trim_start_matches(['@', '＠']);
            prop_assert_eq!(index.get(shown), Some(mention.target));
        }
    }

    #[test]
    fn no_text_at_all_breaks_it(text in any::<String>()) {
        mentions(&text, &index());
        valid_handle(&text);
    }
}

fn missed(text: &str) -> String {
    mentions_and_unknown(text, &index()).1.join(" ")
}

// covers: ATT-365
#[test]
fn a_name_that_fits_nobody_is_found() {
    for (text, want) in [
        ("@scot can you look?", "scot"),
        ("hey @Scot, look", "Scot"),
        ("ask @scot. And @scot too", "scot"),
        ("@scot's turn (@buildr)", "scot buildr"),
        ("@everyone @here", "everyone here"),
        ("@scout-3 please", "scout-3"),
        ("@scot\nthe build is red", "scot"),
        ("＠scot", "scot"),
        ("@Сара привет", "Сара"),
        // Known names and ambiguous names are not reported.
        ("@scout @builder @小明请看", ""),
    ] {
        assert_eq!(missed(text), want, "{text:?}");
    }
    assert_eq!(mentions_and_unknown(&"@x1y ".repeat(100), &index()).1, ["x1y"]);
    let many: String = (0..100).map(|n| format!("@name{n} ")).collect();
    assert_eq!(mentions_and_unknown(&many, &index()).1.len(), 8);
}

// covers: ATT-366
#[test]
fn what_only_looks_like_a_name_is_not_complained_about() {
    for text in [
        "`@scot`",
        "```\n@scot\n```",
        "> @scot said",
        "https://x.y/@scot",
        "[@scot](https://x.y)",
        "mail ann@scot or ann+@scot, ann@scot.com",
        "npm i @angular/core and @types/node, react@latest or @latest",
        "@Override is missing there",
        "@Component({selector: 'a'})",
        "@app.route(\"/\") does it",
        "@pytest.fixture\ndef house():\n    pass",
        "@custom\nclass House:",
        "@one\n@two\nfn main() {}",
        " * @param name who it is",
        "@media (min-width: 1em)",
        "@scot@host.example",
        "\\@scot",
        "at 5 @ 6, @7 and @3pm",
        "@ @@ @- @_",
    ] {
        assert_eq!(missed(text), "", "{text:?}");
    }
}
