//! The one place where ids and random bytes are made.
//!
//! Ids are uuid v7: 48 bits of time, then chance, so that they sort by time and never meet. Random bytes are
//! drawn from the system a page at a time.

use std::sync::{Mutex, PoisonError};

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_core::model::seed::CommandSeed;

const PAGE: usize = 4096;

pub(crate) struct IdGenerator(Mutex<Page>);

struct Page {
    bytes: Box<[u8; PAGE]>,
    used: usize,
}

impl Default for IdGenerator {
    fn default() -> Self {
        Self(Mutex::new(Page { bytes: Box::new([0; PAGE]), used: PAGE }))
    }
}

impl IdGenerator {
    /// What one command needs.
    pub(crate) fn drawn(&self, now: Timestamp) -> Result<CommandSeed, Refusal> {
        let mut bytes = [0; 36];
        self.fill(&mut bytes)?;
        let mut salt = [0; 16];
        salt.copy_from_slice(&bytes[20..]);
        Ok(CommandSeed { uid: uid(now, &bytes[..10]), second: uid(now, &bytes[10..20]), salt })
    }

    pub(crate) fn uid(&self, now: Timestamp) -> Result<Uid, Refusal> {
        let mut bytes = [0; 10];
        self.fill(&mut bytes)?;
        Ok(uid(now, &bytes))
    }

    /// Any number, to spread what should not happen at once. Without random bytes it is 0, and waits are shorter.
    pub(crate) fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        let _ = self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    /// Fills at most a page.
    pub(crate) fn fill(&self, out: &mut [u8]) -> Result<(), Refusal> {
        let mut page = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if page.used + out.len() > PAGE {
            getrandom::fill(&mut page.bytes[..])
                .map_err(|e| Refusal::new(Code::Internal, format!("no random bytes: {e}")))?;
            page.used = 0;
        }
        let from = page.used;
        page.used += out.len();
        out.copy_from_slice(&page.bytes[from..from + out.len()]);
        // What was given out is not kept.
        page.bytes[from..from + out.len()].fill(0);
        Ok(())
    }
}

/// RFC 9562, section 5.7: time, version 7, 12 random bits, variant 2, 62 random bits.
fn uid(now: Timestamp, random: &[u8]) -> Uid {
    let chance = random.iter().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    let time = (now.0.max(0) as u128) & 0xffff_ffff_ffff;
    let high = chance >> 62 & 0xfff;
    let low = chance & 0x3fff_ffff_ffff_ffff;
    Uid(time << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_version_7_sort_by_time_and_never_meet() {
        let draw = IdGenerator::default();
        let mut seen = HashSet::new();
        for n in 0..10_000 {
            let id = draw.uid(Timestamp(1_800_000_000_000 + n)).unwrap();
            let read = uuid::Uuid::from_u128(id.0);
            assert_eq!((read.get_version_num(), read.get_variant()), (7, uuid::Variant::RFC4122));
            assert!(seen.insert(id));
        }
        assert!(uid(Timestamp(1), &[255; 10]) < uid(Timestamp(2), &[0; 10]));
        let (one, two) = (draw.drawn(Timestamp(1)).unwrap(), draw.drawn(Timestamp(1)).unwrap());
        assert_ne!(one.salt, two.salt);
        assert_ne!(one.uid, one.second);
    }
}
