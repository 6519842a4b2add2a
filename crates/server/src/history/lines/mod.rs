//! The lines of an export: each a JSON object with one key that says what it is (docs/copies.md,
//! "Export and import").
//!
//! A kind of line is a file in here: its struct, how it is written from a snapshot, and how it is
//! read. `lines!` lists the kinds in the order in which they come. Members, conversations and events
//! have the numbers that the log's hashes are over, beside their public ids.

mod agent;
mod asset;
mod base;
mod conversation;
mod event;
mod head;
mod job;
mod ledger;
mod member;
mod project;
mod role;
mod schedule;
mod session;
mod stream;
mod thread;

use std::io::{self, Write};

pub(super) use agent::Agent;
pub(super) use asset::Asset;
pub(super) use base::Base;
use chorus_store::history::{Part, Reading, Snapshot, Writing};
pub(super) use conversation::Conversation;
pub(super) use event::Event;
pub(super) use head::Head;
pub(super) use job::Job;
pub(super) use ledger::{Account, LedgerEntry, Spending};
pub(super) use member::Member;
pub(super) use project::Project;
pub(super) use role::Role;
pub(super) use schedule::Schedule;
use serde::{Deserialize, Serialize};
pub(super) use session::Session;
use sha2::{Digest, Sha256};
pub(super) use stream::Stream;
pub(super) use thread::Thread;

use super::error::{Bad, ExportError};
use super::field::Bytes;

/// A kind of line that is read.
trait Kind: Sized {
    /// Whether what is packed in it can be read.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn import(self, import: &mut Import) -> Result<(), Bad>;
}

/// A kind of line of the workspace: all of them are written.
trait OfWorkspace {
    fn export(out: &mut Out<'_>, reading: &Reading, snapshot: &Snapshot) -> Written;
}

/// A kind of line of a conversation: all that one conversation has are written.
trait OfConversation {
    fn export(out: &mut Out<'_>, reading: &Reading, part: &Part) -> Written;
}

type Written = Result<(), ExportError>;

/// Declares the kinds of lines in their order: those before the conversations, those of each
/// conversation, and those behind them.
macro_rules! lines {
    (
        $( $before:ident $(<$b:lifetime>)? ),*;
        conversations { $( $of:ident $(<$c:lifetime>)? ),* };
        $( $after:ident $(<$d:lifetime>)? ),*;
    ) => {
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum Line<'a> {
            Header(Header),
            $( $before($before $(<$b>)?), )*
            $( $of($of $(<$c>)?), )*
            $( $after($after $(<$d>)?), )*
            End(End),
        }

        /// Where a line stands among the others.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Rank {
            Header,
            $( $before, )*
            Conversations,
            $( $after, )*
            End,
        }

        impl Line<'_> {
            pub(super) fn rank(&self) -> Rank {
                match self {
                    Self::Header(_) => Rank::Header,
                    $( Self::$before(_) => Rank::$before, )*
                    $( Self::$of(_) => Rank::Conversations, )*
                    $( Self::$after(_) => Rank::$after, )*
                    Self::End(_) => Rank::End,
                }
            }

            /// Whether what is packed in it can be read.
            pub(super) fn check(&self) -> Result<(), String> {
                match self {
                    Self::Header(_) | Self::End(_) => Ok(()),
                    $( Self::$before(line) => line.check(), )*
                    $( Self::$of(line) => line.check(), )*
                    $( Self::$after(line) => line.check(), )*
                }
            }

            pub(super) fn import(self, import: &mut Import) -> Result<(), Bad> {
                match self {
                    // The import reads these itself.
                    Self::Header(_) | Self::End(_) => Ok(()),
                    $( Self::$before(line) => line.import(import), )*
                    $( Self::$of(line) => line.import(import), )*
                    $( Self::$after(line) => line.import(import), )*
                }
            }
        }

        /// Writes all lines between header and end.
        pub(super) fn export(out: &mut Out<'_>, reading: &Reading, all: &Snapshot) -> Written {
            $( <$before as OfWorkspace>::export(out, reading, all)?; )*
            for part in &all.conversations {
                $( <$of as OfConversation>::export(out, reading, part)?; )*
            }
            $( <$after as OfWorkspace>::export(out, reading, all)?; )*
            Ok(())
        }
    };
}

lines! {
    Member<'a>, Role<'a>, Stream<'a>, Session<'a>, Asset<'a>;
    conversations { Conversation<'a>, Thread<'a>, Base, Event<'a>, Schedule<'a>, Head };
    Project, Agent, Job, LedgerEntry, Account, Spending;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u32,
    pub workspace_id: String,
    pub workspace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<u32>,
    pub exported_at: String,
    pub program: String,
    /// The public key with which `end` is signed.
    pub key: Bytes,
}

/// The last line. Its signature is over the header and over everything between, heads and all, so
/// that a cut tail is seen.
#[derive(Serialize, Deserialize)]
pub(super) struct End {
    #[serde(flatten)]
    pub counts: Counts,
    /// Over the lines between the header and this one, with their ends.
    pub sha256: Bytes,
    pub signature: Bytes,
}

/// How much there is of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub members: u64,
    pub roles: u64,
    pub conversations: u64,
    pub threads: u64,
    pub events: u64,
}

impl Counts {
    pub(super) fn count(&mut self, line: &Line<'_>) {
        let count = match line {
            Line::Member(_) => &mut self.members,
            Line::Role(_) => &mut self.roles,
            Line::Conversation(_) => &mut self.conversations,
            Line::Thread(_) => &mut self.threads,
            Line::Event(_) => &mut self.events,
            _ => return,
        };
        *count += 1;
    }
}

/// Where the lines between header and end are written, counted and hashed.
pub(super) struct Out<'a> {
    to: &'a mut dyn Write,
    digest: Sha256,
    counts: Counts,
    line: Vec<u8>,
}

impl<'a> Out<'a> {
    pub(super) fn new(to: &'a mut dyn Write) -> Self {
        Self { to, digest: Sha256::new(), counts: Counts::default(), line: Vec::new() }
    }

    fn put(&mut self, line: &Line<'_>) -> Written {
        self.counts.count(line);
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(io::Error::other)?;
        self.line.push(b'\n');
        self.digest.update(&self.line);
        Ok(self.to.write_all(&self.line)?)
    }

    /// What was written, and where the end goes.
    pub(super) fn end(self) -> (Counts, &'a mut dyn Write, [u8; 32]) {
        (self.counts, self.to, self.digest.finalize().into())
    }
}

/// What is being made of the lines.
pub(super) struct Import {
    pub(super) writing: Writing,
    /// The conversation at hand, as its own lines say it is.
    pub(super) part: Option<Part>,
}

impl Import {
    /// The conversation at hand, which must be this one.
    fn part(&mut self, conversation: u64) -> Result<&mut Part, Bad> {
        let part = self.part.as_mut().filter(|p| p.conversation.key.0 == conversation);
        part.ok_or_else(|| "it does not belong to the conversation before it".into())
    }
}
