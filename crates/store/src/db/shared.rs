//! What an engine adds whose database several hosts may share.

use super::error::Result;

/// What an engine adds whose database several hosts may share.
pub trait Shared {
    /// Which of the database's hosts this is, counted as they came.
    fn host(&self) -> u32;
    /// Whether no other host can write.
    fn is_alone(&self) -> bool;
    /// Within a transaction: waits until no other host writes, until the transaction ends. Gives the number of
    /// the newest news.
    fn wait_for_turn(&self) -> Result<u64>;
    /// The number of the newest news, without waiting.
    fn newest(&self) -> Result<u64>;
    /// The numbers of the hosts that live, those that wait to be let in too.
    fn hosts(&self) -> Result<Vec<u32>>;
    /// Lets other hosts in: from here on it is shared.
    fn let_in(&self) -> Result<()>;
    /// Takes the database for itself, when it is shared with nobody and the newest news is `seen`.
    fn try_alone(&self, seen: u64) -> Result<bool>;
    /// Whether the keys that this host signs with, by their fingerprint, are those of the hosts that are there.
    fn agree_on_keys(&self, ours: &[u8]) -> Result<bool>;
    /// The commit of this transaction wakes the other hosts.
    fn tell(&self);
    /// Whether others may have written while the connection was away, or before it was first there; says so once.
    fn take_stale(&self) -> bool;
    /// Calls `heard` when another host has written or asks to be let in, and from time to time, until what it
    /// gives is dropped.
    fn listen(&self, heard: Box<dyn Fn(Heard) + Send + Sync>) -> Result<Box<dyn Send>>;
}

/// Why to look at what others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something was written, or somebody waits to be let in.
    News,
    /// Nothing was heard; but a word may have been lost, and hosts may have ended.
    Pause,
}
