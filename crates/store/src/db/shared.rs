//! The additional interface of an engine whose database several hosts may share.

use super::error::Result;

/// The operations for a database that several hosts may share.
pub trait Shared {
    /// This host's number, counted in order of arrival.
    fn host(&self) -> u32;
    /// Whether no other host can write.
    fn is_alone(&self) -> bool;
    /// Within a transaction: waits until no other host writes, until the transaction ends. Returns
    /// the number of the newest news.
    fn wait_for_turn(&self) -> Result<u64>;
    /// The number of the newest news, without waiting.
    fn newest(&self) -> Result<u64>;
    /// The numbers of the live hosts, including those that wait to join.
    fn hosts(&self) -> Result<Vec<u32>>;
    /// Lets other hosts join: from here on the database is shared.
    fn let_in(&self) -> Result<()>;
    /// Takes the database exclusively, if no other host shares it and the newest news is `seen`.
    fn try_alone(&self, seen: u64) -> Result<bool>;
    /// Whether this host's signing keys, by their fingerprint, are those of the other hosts.
    fn agree_on_keys(&self, ours: &[u8]) -> Result<bool>;
    /// The commit of this transaction notifies the other hosts.
    fn tell(&self);
    /// Whether others may have written while the connection was down, or before it first existed.
    /// Reports that once.
    fn take_stale(&self) -> bool;
    /// Calls `heard` when another host has written or asks to join, and periodically, until the
    /// returned handle is dropped.
    fn listen(&self, heard: Box<dyn Fn(Heard) + Send + Sync>) -> Result<Box<dyn Send>>;
}

/// Why to look at the other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something was written, or a host waits to join.
    News,
    /// Nothing was heard. A notification may have been lost, and hosts may have stopped.
    Pause,
}
