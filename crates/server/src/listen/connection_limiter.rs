//! How many connections there may be: in all, and from one address (spec/operations.md, "Limits").
//!
//! A connection has one [`Seat`] from its first byte to its last, as a WebSocket too: the seat goes where the
//! socket goes, and is free again when that is dropped.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::limits::Limits as Settings;
use crate::files;
use crate::limits::network;
use crate::telemetry::{Cut, Metrics};

/// Why there is no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The host has as many connections as it takes.
    All,
    /// The address has as many as one may have.
    Address,
}

impl Full {
    pub(crate) fn cut(self) -> Cut {
        match self {
            Self::All => Cut::All,
            Self::Address => Cut::Address,
        }
    }
}

#[derive(Default)]
struct Taken {
    all: usize,
    /// No more entries than connections; those whose addresses are not counted have none.
    by_address: HashMap<IpAddr, usize>,
}

/// The connections of a host.
pub(crate) struct ConnectionLimiter {
    taken: Mutex<Taken>,
    all: usize,
    /// None when one address may have any number.
    each: Option<usize>,
    uncounted: Vec<IpAddr>,
    metrics: Arc<Metrics>,
}

impl ConnectionLimiter {
    pub(crate) fn new(settings: &Settings, metrics: Arc<Metrics>) -> Arc<Self> {
        let addresses = settings.uncounted_addresses.iter().chain(&settings.trusted_proxies);
        let all = files::for_connections().min(settings.connections as usize);
        Arc::new(Self {
            taken: Mutex::default(),
            all,
            each: Some(settings.address_connections as usize).filter(|each| *each > 0),
            uncounted: addresses.filter_map(|text| text.parse().ok()).collect(),
            metrics,
        })
    }

    /// How many connections there may be.
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    /// A seat for a connection from there.
    pub(crate) fn take(self: &Arc<Self>, from: IpAddr) -> Result<Seat, Full> {
        let from = from.to_canonical();
        let counted = self.each.filter(|_| !self.uncounted.contains(&from));
        let mut taken = self.taken();
        if taken.all >= self.all {
            return Err(Full::All);
        }
        let address = counted.map(|each| (network(from), each));
        if let Some((address, each)) = address {
            let by_address = taken.by_address.entry(address).or_default();
            if *by_address >= each {
                return Err(Full::Address);
            }
            *by_address += 1;
        }
        taken.all += 1;
        self.metrics.open.set(taken.all as i64);
        Ok(Seat { seats: self.clone(), address: address.map(|(address, _)| address) })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nothing panics while it is held.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place.
pub(crate) struct Seat {
    seats: Arc<ConnectionLimiter>,
    address: Option<IpAddr>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        taken.all -= 1;
        self.seats.metrics.open.set(taken.all as i64);
        let Some(address) = self.address else { return };
        if let Some(by_address) = taken.by_address.get_mut(&address) {
            *by_address -= 1;
            if *by_address == 0 {
                taken.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn seats(set: impl FnOnce(&mut Settings)) -> Arc<ConnectionLimiter> {
        let mut settings = Settings::default();
        set(&mut settings);
        ConnectionLimiter::new(&settings, Arc::new(Metrics::default()))
    }

    fn take(seats: &Arc<ConnectionLimiter>, from: &str) -> Result<Seat, Full> {
        seats.take(from.parse().unwrap())
    }

    // covers: OPS-125
    #[test]
    fn an_address_has_its_own_and_gets_back_what_it_gave_up() {
        let seats = seats(|s| s.address_connections = 2);
        let first = take(&seats, "192.0.2.1").unwrap();
        let _second = take(&seats, "::ffff:192.0.2.1").unwrap();
        assert_eq!(take(&seats, "192.0.2.1").err(), Some(Full::Address));
        let _other = take(&seats, "192.0.2.2").unwrap();
        drop(first);
        let _third = take(&seats, "192.0.2.1").unwrap();
        assert_eq!(take(&seats, "192.0.2.1").err(), Some(Full::Address));
        // A network of IPv6 is one customer.
        let _one = take(&seats, "2001:db8::1").unwrap();
        let _two = take(&seats, "2001:db8::2").unwrap();
        assert_eq!(take(&seats, "2001:db8::3").err(), Some(Full::Address));
    }

    // covers: OPS-125
    #[test]
    fn this_machine_and_proxies_are_counted_in_all_only() {
        let seats = seats(|s| {
            (s.address_connections, s.connections) = (1, 5);
            s.trusted_proxies = vec!["10.0.0.1".into()];
        });
        let here: Vec<_> = (0..2).map(|_| take(&seats, "127.0.0.1").unwrap()).collect();
        let _proxy: Vec<_> = (0..3).map(|_| take(&seats, "10.0.0.1").unwrap()).collect();
        assert_eq!(take(&seats, "127.0.0.1").err(), Some(Full::All));
        assert_eq!(take(&seats, "192.0.2.1").err(), Some(Full::All));
        drop(here);
        take(&seats, "192.0.2.1").unwrap();
        // What is remembered goes with the connections.
        assert!(seats.taken().by_address.is_empty());
    }

    #[test]
    fn a_limit_of_nothing_is_none() {
        let seats = seats(|s| s.address_connections = 0);
        let many: Vec<_> = (0..500).map(|_| take(&seats, "192.0.2.1").unwrap()).collect();
        assert_eq!(many.len(), 500);
    }
}
