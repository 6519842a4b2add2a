//! What a run of a crash test is to do.

use std::path::PathBuf;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    pub chorus: PathBuf,
    /// How often the host is killed.
    pub kills: usize,
    pub seed: u64,
    /// Two hosts on one database, which is begun again now and then, behind one address; else one host on a folder.
    pub two_hosts: bool,
    /// An empty folder, for the host's data and the agents' journals.
    pub folder: PathBuf,
}
