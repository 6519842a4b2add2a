//! The registry as others' search services read it (ARD 0.91): its manifest, and a search in words.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use chorus_core::language::search::words;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use chorus_store::{Discovery, Found, Readers};
use chorus_wire::registry::{
    ArdEntry, ArdFederation, ArdHost, ArdManifest, ArdResult, ArdResults, ArdSearch, ArdValues,
};
use serde_json::Value;

use super::agents::{AgentService, WORDS};
use crate::view::ard;

/// Results of a page, where the request does not say, and at most.
const PAGE: u32 = 10;
const PAGE_MOST: u32 = 100;
/// Skills that are looked at for each word of a search, the best first.
const PER_WORD: usize = 100;
/// Agents of a manifest, the best first. The others are found by a search.
const LISTED: usize = 100;
/// What people say around what they need. English only; in other languages every word counts.
const FILLERS: [&str; 34] = [
    "a", "agent", "agents", "an", "and", "are", "can", "could", "do", "does", "find", "for",
    "give", "help", "i", "in", "is", "it", "me", "my", "need", "of", "on", "or", "please", "some",
    "somebody", "that", "the", "to", "want", "which", "who", "with",
];

/// An agent that was found, and by which of the words.
struct Hit {
    entry: ArdEntry,
    words: BTreeSet<usize>,
    /// Its best skill in the order of discovery: reputation, cost, last success.
    place: (i64, i64, i64),
}

impl AgentService {
    /// What anybody may read: that there is a registry, and who is in it if that is public.
    pub(crate) async fn manifest(&self) -> Result<ArdManifest, Refusal> {
        let mut entries = vec![ard::registry(&self.public_url, &self.workspace_name)];
        if self.hiring.public {
            let discovery = Discovery { limit: 2 * LISTED, ..Discovery::default() };
            let found = self.reads.read(move |readers: &Readers| readers.discover(&discovery));
            let mut seen = BTreeSet::new();
            let fresh = found.await?.into_iter().filter(|one| seen.insert(one.listing.agent));
            for one in fresh.take(LISTED) {
                entries.push(self.entry(&one)?);
            }
        }
        let host = ArdHost {
            display_name: self.workspace_name.to_string(),
            documentation_url: format!("{}/v1/openapi.json", self.public_url),
        };
        Ok(ArdManifest { spec_version: "1.0".to_owned(), host, entries })
    }

    /// Agents for which words of the text occur in a skill or in their name: those with the most
    /// words first, and else in the order of discovery.
    pub(crate) async fn search(&self, asked: ArdSearch) -> Result<ArdResults, Refusal> {
        let size = asked.page_size.unwrap_or(PAGE);
        if !(1..=PAGE_MOST).contains(&size) {
            return Err(Refusal::invalid(format!("pageSize is from 1 to {PAGE_MOST}")));
        }
        let from = asked.page_token.as_deref().unwrap_or("0").parse::<u32>();
        let from =
            from.map_err(|_| Refusal::invalid("pageToken is the pageToken of the page before"))?;
        let filter = asked.query.filter.unwrap_or_default();
        must_be_known(&filter)?;
        let terms = terms(&asked.query.text)?;
        let publisher = ard::publisher(&self.public_url);
        let mut hits = self.hits(&terms).await?;
        hits.retain(|hit| fits(&hit.entry, &publisher, &filter));

        let (from, size) = (from as usize, size as usize);
        let more = hits.len() > from.saturating_add(size);
        let page = hits.into_iter().skip(from).take(size).map(|hit| ArdResult {
            score: u8::try_from(100 * hit.words.len() / terms.len()).unwrap_or(100),
            source: ard::base(&self.public_url),
            entry: ArdEntry { representative_queries: None, ..hit.entry },
        });
        Ok(ArdResults {
            results: page.collect(),
            referrals: (asked.federation == ArdFederation::Referrals).then(Vec::new),
            page_token: more.then(|| (from + size).to_string()),
        })
    }

    /// Everybody who is found by one of the terms, the best first.
    async fn hits(&self, terms: &[String]) -> Result<Vec<Hit>, Refusal> {
        let mut hits: BTreeMap<Uid, Hit> = BTreeMap::new();
        for (number, term) in terms.iter().enumerate() {
            let discovery =
                Discovery { words: vec![term.clone()], limit: PER_WORD, ..Discovery::default() };
            let found = self.reads.read(move |readers: &Readers| readers.discover(&discovery));
            for one in found.await? {
                let place = (one.position.rank, one.position.cost, one.position.recency);
                let hit = match hits.entry(one.listing.agent) {
                    Entry::Occupied(hit) => hit.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(Hit { entry: self.entry(&one)?, words: BTreeSet::new(), place })
                    }
                };
                hit.words.insert(number);
                hit.place = hit.place.min(place);
            }
        }
        let mut hits: Vec<Hit> = hits.into_values().collect();
        // Agents of the same place stay in the order of their ids.
        hits.sort_by_key(|hit| (std::cmp::Reverse(hit.words.len()), hit.place));
        Ok(hits)
    }

    fn entry(&self, found: &Found) -> Result<ArdEntry, Refusal> {
        let agent = self.show(&self.directory.load(), &found.listing, found.seen_at)?;
        Ok(ard::entry(&agent, &self.public_url))
    }
}

/// The words of a text that say what is needed: all of them, if there is nothing else in it.
fn terms(text: &str) -> Result<Vec<String>, Refusal> {
    let mut seen = BTreeSet::new();
    let all: Vec<String> = words(text)
        .into_iter()
        .map(|w| w.folded)
        .filter(|word| seen.insert(word.clone()))
        .collect();
    let telling: Vec<String> =
        all.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect();
    let mut terms = if telling.is_empty() { all } else { telling };
    terms.truncate(WORDS);
    match terms.is_empty() {
        true => Err(Refusal::invalid("query.text says in words what is needed")),
        false => Ok(terms),
    }
}

/// What entries can be filtered by.
const FIELDS: [&str; 8] = [
    "publisher",
    "identifier",
    "displayName",
    "type",
    "url",
    "description",
    "tags",
    "capabilities",
];

fn must_be_known(filter: &BTreeMap<String, ArdValues>) -> Result<(), Refusal> {
    let is_known = |path: &str| FIELDS.contains(&path) || path.starts_with("metadata.");
    match filter.keys().find(|path| !is_known(path)) {
        None => Ok(()),
        Some(path) => {
            let shown: String = path.chars().take(64).collect();
            let known = FIELDS.join(", ");
            let why = format!("no filter by {shown:?}: there are {known} and metadata.…");
            Err(Refusal::new(Code::ValidationError, why))
        }
    }
}

/// Whether an entry has one of the values at each path.
fn fits(entry: &ArdEntry, publisher: &str, filter: &BTreeMap<String, ArdValues>) -> bool {
    if filter.is_empty() {
        return true;
    }
    let entry = serde_json::to_value(entry).unwrap_or_default();
    filter.iter().all(|(path, values)| match path.as_str() {
        "publisher" => values.as_slice().iter().any(|value| value == publisher),
        path => {
            let at = path.split('.').try_fold(&entry, |value, name| value.get(name));
            at.is_some_and(|at| values.as_slice().iter().any(|value| has(at, value)))
        }
    })
}

fn has(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Array(list) => list.iter().any(|one| has(one, wanted)),
        Value::Number(number) => wanted.parse().ok() == number.as_f64(),
        Value::Bool(truth) => wanted.parse() == Ok(*truth),
        Value::Null | Value::Object(_) => false,
    }
}
