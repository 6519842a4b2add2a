//! `spec/sentences/*.toml`: a protocol as it was given to us, sentence by sentence, with what carries each.
//!
//! The words of a protocol stay where they came from; here is what each sentence says in ours. It has the requirements
//! that carry it, or the reason why it asks nothing, and a print by which the sentence itself is known: how many
//! characters it has without its spaces, and how their SHA-256 begins. Where the protocol's own text is at hand, a test
//! holds the list against it, so that no sentence is left out, altered or taken together with another.

use serde::Deserialize;

use super::Problems;
use super::requirements::{Id, Requirements};
use crate::repo;

const FOLDER: &str = "spec/sentences";

/// One protocol; its name is that of its file, and of the text that it follows.
pub(super) struct Protocol {
    pub(super) name: String,
    sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    print: String,
    #[serde(default)]
    sentences: Vec<Sentence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    print: String,
    says: String,
    #[serde(default)]
    ids: Vec<String>,
    context: Option<String>,
}

/// All there are, by name.
pub(super) fn read() -> Result<Vec<Protocol>, String> {
    let files = repo::files()?.into_iter().filter(|f| f.starts_with(FOLDER));
    let read = files.map(|file| {
        let text = repo::read(&file).unwrap_or_default();
        let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Protocol::of(name, &text).map_err(|e| format!("{}: {e}", file.display()))
    });
    read.collect()
}

impl Protocol {
    fn of(name: &str, text: &str) -> Result<Self, toml::de::Error> {
        let File { section } = toml::from_str(text)?;
        Ok(Self { name: name.to_owned(), sections: section })
    }

    /// Sentences that nothing carries, and requirements that there are none of.
    pub(super) fn problems(&self, requirements: &Requirements) -> Problems {
        let mut problems = Problems::new();
        for section in &self.sections {
            let prints = section.sentences.iter().map(|s| &s.print).chain([&section.print]);
            for print in prints.filter(|print| !is_print(print)) {
                problems.push(format!("{FOLDER}/{}.toml: {print:?} is no print", self.name));
            }
        }
        for sentence in self.sections.iter().flat_map(|section| &section.sentences) {
            let place = format!("{FOLDER}/{}.toml: {:?}", self.name, sentence.says);
            let reason = sentence.context.as_deref().map(str::trim);
            if sentence.ids.is_empty() == reason.is_none() || reason == Some("") {
                problems
                    .push(format!("{place}: give its `ids`, or in `context` why it asks nothing"));
            }
            for id in &sentence.ids {
                if !Id::read(id).is_some_and(|id| requirements.keys().any(|known| known.is_of(&id)))
                {
                    problems.push(format!("{place}: {id} is defined by no spec"));
                }
            }
        }
        problems
    }

    /// Its section of the page. Why a requirement has no test stands beside it, further up.
    pub(super) fn page(&self, has_test: impl Fn(&Id) -> bool) -> String {
        let name = &self.name;
        let mut page = format!(
            "\n## {name}, sentence by sentence\n\nWhat each sentence of the protocol says, in its order \
             (`{FOLDER}/{name}.toml`).\n\n| it says | requirements | covered |\n|---|---|---|\n"
        );
        for section in &self.sections {
            page.push_str(&format!("| **{}** | | |\n", section.title));
            for Sentence { says, ids, context, .. } in &section.sentences {
                let open = ids.iter().filter(|id| !Id::read(id).is_some_and(|id| has_test(&id)));
                let open: Vec<&str> = open.map(String::as_str).collect();
                let covered = match (context, open.is_empty()) {
                    (Some(why), _) => format!("asks nothing: {why}"),
                    (None, true) => "yes".to_owned(),
                    (None, false) if open.len() < ids.len() => {
                        format!("all but {}", open.join(", "))
                    }
                    (None, false) => "not by a test".to_owned(),
                };
                page.push_str(&format!("| {says} | {} | {covered} |\n", ids.join(", ")));
            }
        }
        page
    }
}

/// A number of characters, and twelve digits of a hash.
fn is_print(print: &str) -> bool {
    let parts = print.split_once(' ');
    parts.is_some_and(|(length, hash)| {
        length.parse::<usize>().is_ok_and(|length| length > 0)
            && hash.len() == 12
            && hash.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sha2::{Digest, Sha256};

    use super::*;

    /// The characters of a text without its spaces, and at which of them a sentence, a line of a list, an example or a
    /// heading begins for certain. Texts that were copied from pages have lost some marks; none is made up here. An
    /// example between fences is one piece, whatever it has in it.
    fn stream(text: &str) -> (Vec<char>, BTreeSet<usize>) {
        let (mut stream, mut begins) = (Vec::new(), BTreeSet::new());
        let mut is_fenced = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let is_fence = line.starts_with("```");
            if is_fenced || is_fence {
                if !is_fenced {
                    begins.insert(stream.len());
                }
                stream.extend(line.chars().filter(|c| !c.is_whitespace()));
                is_fenced = is_fenced != is_fence;
                continue;
            }
            if begins_something(line) {
                begins.insert(stream.len());
            }
            for (at, c) in line.char_indices().filter(|(_, c)| !c.is_whitespace()) {
                stream.push(c);
                let rest = line[at + c.len_utf8()..].trim_start();
                let ends =
                    c == '.' && rest.starts_with(char::is_uppercase) && !is_number(&line[..at]);
                if ends || (matches!(c, '.' | ':') && rest.starts_with("- ")) {
                    begins.insert(stream.len());
                }
            }
        }
        (stream, begins)
    }

    /// What stands before the point of a numbered line or heading.
    fn is_number(text: &str) -> bool {
        let number = text.trim_start_matches('#').trim();
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    }

    fn begins_something(line: &str) -> bool {
        let heading = line.trim_start_matches('#');
        line.split_once(". ").is_some_and(|(number, _)| is_number(number))
            || line.starts_with("- ")
            || line.starts_with('|')
            || line.starts_with(char::is_uppercase)
            || (heading.len() < line.len() && heading.starts_with(' '))
    }

    fn print(piece: &[char]) -> String {
        let hash = Sha256::digest(piece.iter().collect::<String>());
        let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        format!("{} {hash}", piece.len())
    }

    /// What is not so: the first sentence that is not the text's, or what of it is in no sentence.
    fn differs(protocol: &Protocol, text: &str) -> Result<(), String> {
        let (stream, begins) = stream(text);
        let mut at = 0;
        for section in &protocol.sections {
            let head = (&section.print, &section.title);
            for (known, says) in
                std::iter::once(head).chain(section.sentences.iter().map(|s| (&s.print, &s.says)))
            {
                let length = known.split(' ').next().and_then(|n| n.parse::<usize>().ok());
                let length = length.ok_or_else(|| format!("{says:?} has no print"))?;
                let piece = stream.get(at..at + length);
                let piece = piece.ok_or_else(|| format!("the text ends before {says:?}"))?;
                let shown: String = piece.iter().collect();
                if print(piece) != *known {
                    return Err(format!("{says:?} is not {shown:?} {}", print(piece)));
                }
                if let Some(other) = begins.range(at + 1..at + length).next() {
                    let rest: String = stream[*other..at + length].iter().collect();
                    return Err(format!("{says:?} is more than a sentence: {rest:?}"));
                }
                at += length;
            }
        }
        let rest: String = stream[at..].iter().take(60).collect();
        if rest.is_empty() { Ok(()) } else { Err(format!("nothing is said of {rest:?}")) }
    }

    fn one(lines: &[(&str, &str)]) -> Protocol {
        let sentences = lines.iter().map(|(piece, says)| Sentence {
            print: print(&stream(piece).0),
            says: (*says).to_owned(),
            ids: Vec::new(),
            context: None,
        });
        let (title, print) = ("Rooms".to_owned(), print(&stream("Rooms").0));
        let section = Section { title, print, sentences: sentences.collect() };
        Protocol { name: "rooms".to_owned(), sections: vec![section] }
    }

    #[test]
    fn each_sentence_of_a_protocol_has_its_line() {
        let specs = repo::root().join("../shared/specs");
        for protocol in read().unwrap() {
            let file = specs.join(format!("{}.md", protocol.name));
            let Ok(text) = std::fs::read_to_string(&file) else {
                eprintln!("skipped: the text of {} is not at hand", protocol.name);
                continue;
            };
            assert_eq!(differs(&protocol, &text), Ok(()), "{}", protocol.name);
        }
    }

    #[test]
    fn what_is_left_out_altered_or_taken_together_is_found() {
        let text =
            "Rooms\nA room stays.It has:- a title\nand a log\n- a roster\nNobody leaves. Or so";
        let whole = [
            ("A room stays.", "a"),
            ("It has:", "b"),
            ("- a title\nand a log", "c"),
            ("- a roster", "d"),
            ("Nobody leaves.", "e"),
            ("Or so", "f"),
        ];
        assert_eq!(differs(&one(&whole), text), Ok(()));
        assert!(differs(&one(&whole[..5]), text).unwrap_err().contains("Orso"), "left out");
        for n in 0..5 {
            let mut less = whole.to_vec();
            less.remove(n);
            differs(&one(&less), text).unwrap_err();
        }
        let mut altered = whole;
        altered[3].0 = "- a waster";
        assert!(differs(&one(&altered), text).unwrap_err().contains("-aroster"));
        for (first, both) in [
            (0, "A room stays.It has:"),
            (1, "It has:- a title\nand a log"),
            (2, "- a title\nand a log\n- a roster"),
            (3, "- a roster\nNobody leaves."),
            (4, "Nobody leaves. Or so"),
        ] {
            let mut together = whole.to_vec();
            together.remove(first + 1);
            together[first] = (both, "two");
            let found = differs(&one(&together), text).unwrap_err();
            assert!(found.contains("more than a sentence"), "{found}");
        }
    }

    #[test]
    fn an_example_is_one_piece_and_so_is_a_heading() {
        let text = "Rooms\nInput:\n```json\n{\n\"says\": \"One. Two\"\n}\n```\n## 2. More\nIt ends:\n1. Once\n2. Twice";
        let whole = [
            ("Input:", "a"),
            ("```json{\"says\": \"One. Two\"}```", "b"),
            ("## 2. More", "c"),
            ("It ends:", "d"),
            ("1. Once", "e"),
            ("2. Twice", "f"),
        ];
        assert_eq!(differs(&one(&whole), text), Ok(()));
        for first in 0..5 {
            let mut together = whole.to_vec();
            let next = together.remove(first + 1);
            let both = format!("{}{}", together[first].0, next.0);
            together[first].0 = &both;
            let found = differs(&one(&together), text).unwrap_err();
            assert!(found.contains("more than a sentence"), "{found}");
        }
    }

    #[test]
    fn a_sentence_has_requirements_or_a_reason() {
        let text = r#"
            [[section]]
            title = "Rooms"
            print = "5 0123456789ab"
            sentences = [
              { print = "1 0123456789ab", says = "known", ids = ["CHN-1"] },
              { print = "1 0123456789ab", says = "unknown", ids = ["CHN-1", "CHN-2"] },
              { print = "1 0123456789ab", says = "no id", ids = ["chn 1"] },
              { print = "1 0123456789ab", says = "explained", context = "an example" },
              { print = "1 0123456789ab", says = "both", ids = ["CHN-1"], context = "an example" },
              { print = "1 0123456789ab", says = "neither" },
              { print = "1 0123456789ab", says = "no reason", context = " " },
            ]
        "#;
        let protocol = Protocol::of("rooms", text).unwrap();
        let requirements = [(Id::read("CHN-1").unwrap(), "channels".to_owned())].into();
        let found = protocol.problems(&requirements);
        let about = ["unknown", "no id", "both", "neither", "no reason"];
        assert_eq!(found.len(), about.len(), "{found:?}");
        for (problem, says) in found.iter().zip(about) {
            assert!(problem.contains(&format!("{says:?}")), "{problem}");
        }
        let page = protocol.page(|_| false);
        assert!(page.contains("| known | CHN-1 | not by a test |"), "{page}");
        let page = protocol.page(|id| id.to_string() == "CHN-1");
        assert!(page.contains("| known | CHN-1 | yes |"), "{page}");
        assert!(page.contains("| unknown | CHN-1, CHN-2 | all but CHN-2 |"), "{page}");
        assert!(page.contains("| explained |  | asks nothing: an example |"), "{page}");
        for bad in ["5", "0 0123456789ab", "5 0123456789", "5 0123456789ag"] {
            let protocol = Protocol::of("rooms", &text.replace("5 0123456789ab", bad)).unwrap();
            assert_eq!(protocol.problems(&requirements).len(), about.len() + 1, "{bad}");
        }
        Protocol::of("rooms", &text.replace("says", "sais")).err().expect("a field of no meaning");
    }
}
