//! How much one caller may ask for: token buckets for members, sessions, connections and addresses
//! (spec/operations.md, "Limits").
//!
//! A bucket is one number, the time at which it is full again (the generic cell rate algorithm), so that a
//! million callers cost no more than one: buckets lie in tables of a fixed size, and a caller's place is a hash
//! with a key of this run. Two that share a place share a bucket, which no caller can bring about on purpose.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::http::HeaderMap;
use chorus_core::model::caller::By;
use chorus_core::model::ids::{MemberKey, Timestamp};

use crate::config::limits::Limits as Settings;

/// Buckets of one table: 512 KiB.
const PLACES: usize = 1 << 16;

/// Time of a core that may be saved up, in nanoseconds.
const SAVED: i64 = 1_000_000_000;

/// A day in nanoseconds.
const DAY: i64 = 86_400_000_000_000;

/// How fast a bucket fills, and how much it holds. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    each: i64,
    holds: i64,
}

impl Rate {
    /// So many within a day, all of them at once or one after the other.
    fn daily(most: u32) -> Option<Self> {
        let each = DAY.checked_div(i64::from(most))?.max(1);
        Some(Self { each, holds: each * i64::from(most) })
    }

    /// None when there is no limit.
    fn new(per_second: u32, burst: u32) -> Option<Self> {
        let each = 1_000_000_000_i64.checked_div(i64::from(per_second))?.max(1);
        Some(Self { each, holds: each * i64::from(burst.max(1)) })
    }

    /// Takes some, given when the bucket is full again; gives when it is full then, or how long to wait.
    fn take(self, count: i64, full_at: i64, now: i64) -> Result<i64, Wait> {
        // One that is full later than it can be is of another clock: time went back.
        let full_at = if full_at > now + self.holds { now } else { full_at.max(now) };
        let next = full_at.saturating_add(self.each.saturating_mul(count));
        match next.saturating_sub(now).saturating_sub(self.holds) {
            over if over > 0 => Err(Wait(over)),
            _ => Ok(next),
        }
    }
}

fn nanos(now: Timestamp) -> i64 {
    now.0.saturating_mul(1_000_000)
}

/// How long until there is one again, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(i64);

impl Wait {
    /// In whole seconds, at least one: what `Retry-After` can say.
    pub(crate) fn seconds(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0).div_ceil(1_000_000_000).max(1)
    }
}

/// The buckets of everybody of one kind.
struct Buckets {
    rate: Option<Rate>,
    places: Box<[AtomicI64]>,
    hasher: RandomState,
}

impl Buckets {
    fn new(per_second: u32, burst: u32) -> Self {
        Self::of(Rate::new(per_second, burst))
    }

    fn of(rate: Option<Rate>) -> Self {
        // No limit needs no table.
        let places = if rate.is_some() { PLACES } else { 0 };
        let places = (0..places).map(|_| AtomicI64::new(0)).collect();
        Self { rate, places, hasher: RandomState::new() }
    }

    fn take(&self, who: impl Hash, now: Timestamp) -> Result<(), Wait> {
        self.take_some(1, who, now)
    }

    fn take_some(&self, count: i64, who: impl Hash, now: Timestamp) -> Result<(), Wait> {
        let Some(rate) = self.rate else { return Ok(()) };
        let at = usize::try_from(self.hasher.hash_one(who) % PLACES as u64).unwrap_or(0);
        let Some(place) = self.places.get(at) else { return Ok(()) };
        let now = nanos(now);
        let mut refused = Ok(());
        let _ = place.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            let taken = rate.take(count, full_at, now);
            refused = taken.map(drop);
            taken.ok()
        });
        refused
    }

    fn give_back(&self, count: i64, who: impl Hash) {
        let Some(rate) = self.rate else { return };
        let at = usize::try_from(self.hasher.hash_one(who) % PLACES as u64).unwrap_or(0);
        if let Some(place) = self.places.get(at) {
            place.fetch_sub(rate.each.saturating_mul(count), Ordering::Relaxed);
        }
    }
}

/// What a member was counted as making.
pub(crate) struct Made {
    pub member: MemberKey,
    pub conversations: u64,
    pub seats: u64,
}

/// The bucket of one connection or workspace; it goes with it.
pub(crate) struct Bucket {
    rate: Option<Rate>,
    full_at: i64,
}

impl Bucket {
    /// What was taken does not count.
    pub(crate) fn give_back(&mut self) {
        self.full_at = self.full_at.saturating_sub(self.rate.map_or(0, |rate| rate.each));
    }

    /// So many a second, and so many at once.
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self { rate: Rate::new(per_second, burst), full_at: 0 }
    }

    pub(crate) fn take(&mut self, now: Timestamp) -> Result<(), Wait> {
        let Some(rate) = self.rate else { return Ok(()) };
        self.full_at = rate.take(1, self.full_at, nanos(now))?;
        Ok(())
    }
}

/// A share of the time of one core: what is spent beyond it has to be waited for. A second of it may be saved up.
pub(crate) struct Share {
    /// How long it takes to be given one nanosecond, in hundredths; none is no limit.
    each: Option<i64>,
    full_at: i64,
}

impl Share {
    pub(crate) fn of_a_core(percent: u32) -> Self {
        Self { each: 10_000_i64.checked_div(i64::from(percent)), full_at: 0 }
    }

    /// Spends what was used, whether it was there or not.
    pub(crate) fn spend(&mut self, time: Duration, now: Timestamp) {
        let Some(each) = self.each else { return };
        let used = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX).saturating_mul(each) / 100;
        self.full_at = self.full_at.max(nanos(now)).saturating_add(used);
    }

    /// How long to wait until there is some again.
    pub(crate) fn has_some(&self, now: Timestamp) -> Result<(), Wait> {
        let Some(each) = self.each else { return Ok(()) };
        let saved = SAVED.saturating_mul(each) / 100;
        match self.full_at.saturating_sub(nanos(now)).saturating_sub(saved) {
            over if over > 0 => Err(Wait(over)),
            _ => Ok(()),
        }
    }
}

/// The limits of a host.
pub(crate) struct Limits {
    members: Buckets,
    sessions: Buckets,
    addresses: Buckets,
    failures: Buckets,
    connection: Option<Rate>,
    ping: Option<Rate>,
    pings: Buckets,
    lines: Buckets,
    conversations: Buckets,
    seats: Buckets,
    proxies: Vec<IpAddr>,
}

impl Limits {
    pub(crate) fn new(settings: &Settings) -> Self {
        let proxies = settings.trusted_proxies.iter().filter_map(|text| text.parse().ok());
        Self {
            members: Buckets::new(settings.member_per_second, settings.member_burst),
            sessions: Buckets::new(settings.session_per_second, settings.session_burst),
            addresses: Buckets::new(settings.address_per_second, settings.address_burst),
            failures: Buckets::new(settings.failures_per_second, settings.failures_burst),
            connection: Rate::new(settings.connection_per_second, settings.connection_burst),
            ping: Rate::new(settings.pings_per_second, settings.pings_burst),
            pings: Buckets::new(settings.pings_per_second, settings.pings_burst),
            lines: Buckets::new(settings.agent_lines_per_second, settings.agent_lines_burst),
            conversations: Buckets::of(Rate::daily(settings.conversations_per_day)),
            seats: Buckets::of(Rate::daily(settings.seats_per_day)),
            proxies: proxies.collect(),
        }
    }

    /// Any request, before it is known who makes it.
    pub(crate) fn request(&self, from: IpAddr, now: Timestamp) -> Result<(), Wait> {
        self.addresses.take(network(from), now)
    }

    /// A request whose token is none.
    pub(crate) fn failure(&self, from: IpAddr, now: Timestamp) -> Result<(), Wait> {
        self.failures.take(network(from), now)
    }

    /// A request of a member, or a call on its connection.
    pub(crate) fn call(&self, by: By, now: Timestamp) -> Result<(), Wait> {
        if let Some(session) = by.session {
            self.sessions.take(session, now)?;
        }
        self.members.take(by.member, now)
    }

    pub(crate) fn bucket(&self) -> Bucket {
        Bucket { rate: self.connection, full_at: 0 }
    }

    /// What a connection may still send that asks for nothing: pings, and acknowledgements of nothing.
    pub(crate) fn ping_bucket(&self) -> Bucket {
        Bucket { rate: self.ping, full_at: 0 }
    }

    /// The same of a session over single requests, by the name it goes by.
    pub(crate) fn ping(&self, by: By, session: Option<&str>, now: Timestamp) -> Result<(), Wait> {
        self.pings.take((by.member, by.session, session), now)
    }

    /// A line of an agent's for the host's log.
    pub(crate) fn line(&self, member: MemberKey, now: Timestamp) -> Result<(), Wait> {
        self.lines.take(member, now)
    }

    /// A conversation that a member makes.
    pub(crate) fn conversation(&self, member: MemberKey, now: Timestamp) -> Result<(), Wait> {
        self.conversations.take(member, now)
    }

    /// Seats that a member gives to others.
    pub(crate) fn seats(&self, count: u64, by: MemberKey, now: Timestamp) -> Result<(), Wait> {
        match i64::try_from(count).unwrap_or(i64::MAX) {
            0 => Ok(()),
            count => self.seats.take_some(count, by, now),
        }
    }

    /// What was counted is not made after all.
    pub(crate) fn give_back(&self, made: Made) {
        for (buckets, count) in
            [(&self.conversations, made.conversations), (&self.seats, made.seats)]
        {
            // No more was taken than this.
            if let Ok(count @ 1..) = i64::try_from(count) {
                buckets.give_back(count, made.member);
            }
        }
    }

    /// A call on a connection.
    pub(crate) fn frame(&self, own: &mut Bucket, by: By, now: Timestamp) -> Result<(), Wait> {
        own.take(now)?;
        self.call(by, now)
    }

    /// Who is at the other end: the peer, or whom a trusted proxy names. What a client puts before that is its
    /// own word, and only the last address that no trusted proxy has is taken.
    pub(crate) fn origin(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.proxies.contains(&peer) {
            return peer;
        }
        let named = headers.get_all("x-forwarded-for").iter().rev();
        let named = named.filter_map(|line| line.to_str().ok()).flat_map(|line| line.rsplit(','));
        let mut last = peer;
        for name in named {
            let Ok(address) = name.trim().parse::<IpAddr>() else { break };
            last = address.to_canonical();
            if !self.proxies.contains(&last) {
                break;
            }
        }
        last
    }
}

/// What one customer has: an IPv4 address, or the 64 bits of an IPv6 network.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn limits(set: impl FnOnce(&mut Settings)) -> Limits {
        let mut settings = Settings::default();
        set(&mut settings);
        Limits::new(&settings)
    }

    const NOW: Timestamp = Timestamp(1_790_000_000_000);

    // covers: OPS-102
    #[test]
    fn a_bucket_holds_its_burst_and_fills_with_time() {
        let limits = limits(|s| (s.address_per_second, s.address_burst) = (10, 3));
        let from = "192.0.2.1".parse().unwrap();
        for _ in 0..3 {
            assert_eq!(limits.request(from, NOW), Ok(()));
        }
        assert_eq!(limits.request(from, NOW).unwrap_err().seconds(), 1);
        // Another has its own.
        assert_eq!(limits.request("192.0.2.2".parse().unwrap(), NOW), Ok(()));
        assert!(limits.request(from, NOW.plus(99)).is_err());
        assert_eq!(limits.request(from, NOW.plus(100)), Ok(()));
        assert!(limits.request(from, NOW.plus(100)).is_err());
        // Time that went back gives a full bucket, and not one that is empty until it comes again.
        assert_eq!(limits.request(from, NOW.plus(-3_600_000)), Ok(()));
    }

    // covers: OPS-102
    #[test]
    fn a_limit_of_nothing_is_none() {
        let limits = limits(|s| s.member_per_second = 0);
        let by = By::host();
        assert!((0..100_000).all(|_| limits.members.take(by.member, NOW).is_ok()));
        assert!(limits.members.places.is_empty());
    }

    // covers: OPS-103
    #[test]
    fn a_million_addresses_cost_what_one_does_and_do_not_touch_each_other_much() {
        let limits = limits(|s| (s.failures_per_second, s.failures_burst) = (1, 40));
        for n in 0..1_000_000_u32 {
            let _ = limits.failure(IpAddr::V4(n.into()), NOW);
        }
        assert_eq!(limits.failures.places.len(), PLACES);
        let fresh = (0..1_000)
            .filter(|n| limits.failure(IpAddr::V4((0xC000_0000 + n).into()), NOW).is_ok());
        assert!(fresh.count() > 990);
        // A network of IPv6 is one customer.
        for n in 0..40 {
            let address: IpAddr = format!("2001:db8::{n:x}").parse().unwrap();
            let _ = limits.failure(address, NOW);
        }
        assert!(limits.failure("2001:db8::ffff".parse().unwrap(), NOW).is_err());
    }

    // covers: OPS-105
    #[test]
    fn only_a_trusted_proxy_says_for_whom_it_asks() {
        let limits = limits(|s| s.trusted_proxies = vec!["10.0.0.1".into(), "10.0.0.2".into()]);
        let check = |peer: &str, forwarded: Option<&str>, origin: &str| {
            let mut headers = HeaderMap::new();
            if let Some(forwarded) = forwarded {
                headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            }
            let found = limits.origin(peer.parse().unwrap(), &headers);
            assert_eq!(found, origin.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        };
        check("192.0.2.9", None, "192.0.2.9");
        check("192.0.2.9", Some("198.51.100.1"), "192.0.2.9");
        check("10.0.0.1", Some("198.51.100.1"), "198.51.100.1");
        check("::ffff:10.0.0.1", Some("198.51.100.1"), "198.51.100.1");
        check("10.0.0.1", Some("203.0.113.7, 198.51.100.1, 10.0.0.2"), "198.51.100.1");
        check("10.0.0.1", Some("nonsense"), "10.0.0.1");
        check("10.0.0.1", None, "10.0.0.1");
    }
}
