//! Maps and sets by keys that the host itself has made. Nobody can choose these so that they
//! collide, so a fast hash is enough. Names, which people choose, are not kept in them, and idempotency
//! keys only as SHA-256 makes them.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rpds::HashTrieMapSync;

pub type KeyMap<K, V> = HashMap<K, V, RandomState>;
pub type KeySet<K> = HashSet<K, RandomState>;
/// Shares what is the same with its clones.
pub type SharedKeyMap<K, V> = HashTrieMapSync<K, V, RandomState>;
