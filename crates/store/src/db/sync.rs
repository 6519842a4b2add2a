//! Durability: when a commit is answered.

/// When a commit counts as done, and when its commands are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// On disk before the answer.
    #[default]
    Full,
    /// Written but not synced before the answer: a power cut loses answered commits. For
    /// comparisons.
    DangerousNormal,
    /// Answered before the commit, to show that the tests would detect it.
    DangerousAnswerFirst,
}

/// Puts on disk what was committed; called on any thread. After a failure it is unknown what is there.
pub type SyncLog = Box<dyn FnMut() -> std::io::Result<()> + Send>;
