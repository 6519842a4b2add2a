//! All settings: every section, and how each is reached by its path.

use std::collections::BTreeMap;

use super::approvals::Approvals;
use super::attention::Attention;
use super::audit::Audit;
use super::basics::Basics;
use super::budget::Budget;
use super::database::Database;
use super::deadlines::Deadlines;
use super::digest::Digest;
use super::files::Files;
use super::hosts::Hosts;
use super::issuers::{self, Issuer};
use super::kind::Given;
use super::limits::Limits;
use super::otlp::Otlp;
use super::redaction::Redaction;
use super::registry::Registry;
use super::retention::Retention;
use super::section::{Entry, Section};
use super::telemetry::Telemetry;
use super::threads::Threads;
use super::tls::Tls;
use super::webhook::Webhook;
use super::workspaces::Workspaces;

/// The section whose own sections have names that are the operator's.
pub(super) const ISSUERS: &str = "issuers";

/// Goes through the sections with fixed names.
macro_rules! settings {
    ($($(#[$doc:meta])* $field:ident: $section:ty),+ $(,)?) => {
        /// Every setting there is. A new section is a line here.
        #[derive(Clone, Debug, Default)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $section,)+
            pub issuers: BTreeMap<String, Issuer>,
        }

        impl Settings {
            /// Names, comments and entries of all sections, in the order of the page.
            pub fn sections() -> Vec<(&'static str, String, Vec<Entry>)> {
                vec![
                    $((<$section>::NAME, <$section>::about(), <$section>::entries()),)+
                    (Issuer::NAME, Issuer::about(), Issuer::entries()),
                ]
            }

            pub(super) fn set(&mut self, section: &str, key: &str, given: &Given) -> Result<(), Option<String>> {
                $(if section == <$section>::NAME {
                    return self.$field.set(key, given);
                })+
                match section.strip_prefix("issuers.") {
                    Some(name) => self.issuers.entry(name.to_owned()).or_default().set(key, given),
                    None => Err(Some("no such section".to_owned())),
                }
            }

            /// A setting's value as it is written in the file.
            pub fn show(&self, section: &str, key: &str) -> String {
                $(if section == <$section>::NAME {
                    return self.$field.show(key);
                })+
                let issuer = section.strip_prefix("issuers.").and_then(|name| self.issuers.get(name));
                issuer.map(|issuer| issuer.show(key)).unwrap_or_default()
            }

            /// Paths of settings that do not fit each other, and what is wrong.
            pub(super) fn check(&self) -> Vec<(String, String)> {
                let mut wrong = Vec::new();
                $(for (key, why) in self.$field.check() {
                    wrong.push((join(<$section>::NAME, key), why));
                })+
                for (name, issuer) in &self.issuers {
                    for (key, why) in issuer.check() {
                        wrong.push((join(&format!("{ISSUERS}.{name}"), key), why));
                    }
                }
                for (name, key, why) in issuers::check_all(&self.issuers) {
                    wrong.push((join(&format!("{ISSUERS}.{name}"), key), why));
                }
                wrong
            }
        }
    };
}

settings! {
    basics: Basics,
    database: Database,
    hosts: Hosts,
    limits: Limits,
    redaction: Redaction,
    attention: Attention,
    digest: Digest,
    threads: Threads,
    webhook: Webhook,
    registry: Registry,
    deadlines: Deadlines,
    budget: Budget,
    approvals: Approvals,
    retention: Retention,
    files: Files,
    audit: Audit,
    tls: Tls,
    workspaces: Workspaces,
    telemetry: Telemetry,
    otlp: Otlp,
}

/// The path of a key in a section.
pub(super) fn join(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// Section and key of a path.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
