//! `bench host`: the host on its embedded database, with the full attention decision and its trace stored.
//!
//! A post is 300 bytes of text that tells three members. `post.c1`, `post.c64` and `post.c256` go over 100
//! channels, `post.hot_channel` over one. `post.c64.c2a` are 64 connections of the attention transport with
//! eight calls on their way each, `post.c64.two_hosts` 64 clients in halves at two hosts on one PostgreSQL. `p99.beside_flood` is what 20 quiet members wait beside one who floods.
//! `fanout.*` are deliveries that agents acknowledge, `fanout.settled.s100` those that they settle at once too.
//! What is compared with what, and which bound we set, is in [`figures`]; how each is taken, in the file of
//! its name.

mod deliver;
mod figures;
mod flood;
mod harness;
pub(super) mod idle;
mod replay;
pub(super) mod rooms;
mod rows;
pub(super) mod server;

use std::time::Duration;

use self::deliver::{Audience, Settles};
use self::flood::Beside;
use self::idle::settle;
use self::rooms::{Crowds, Rooms};
use self::rows::Rows;
use self::server::{Host, Hosts};
use super::Plan;
use super::peers::{self, Base, Hello, Postgres, Redis, Syncs};
use super::report::{Samples, median};

/// Rows of the large log.
const MANY_ROWS: u64 = 5_000_000;
/// Rows of the small one.
const FEW_ROWS: u64 = 1_000;
/// An hour of a workspace in which a hundred things happen a second.
const HOUR_OF_EVENTS: u64 = 360_000;
/// Starts whose median is the start-up time.
const STARTS: usize = 5;

/// Measures everything asked for and prints the lines.
pub(super) fn run(plan: &Plan, base: Option<Base>) -> Result<(), String> {
    let mut samples = Samples::default();
    let hosts = Hosts { chorus: &plan.chorus, base: base.as_ref() };
    let mut bench = Bench::prepare(plan, hosts, &mut samples)?;
    eprintln!("warm-up");
    bench.round(plan, plan.window / 5, &mut samples);
    samples.start_over();
    for round in 1..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        bench.round(plan, plan.window, &mut samples);
    }
    bench.once(plan, hosts, &mut samples);
    match base {
        None => samples.print(figures::FIGURES, None),
        Some(_) => samples.print(&figures::on_postgres(), Some("postgres")),
    }
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}

/// Everything that runs while the rounds go by: idle but for the one that is measured.
struct Bench {
    syncs: Syncs,
    hello: Hello,
    redis: Option<Redis>,
    postgres: Option<Postgres>,
    ours: Option<Ours>,
}

/// The hosts that are measured: as it comes, and with one promise taken away each.
struct Ours {
    host: Host,
    rooms: Rooms,
    unbatched: Option<(Host, Rooms)>,
    unsynced: Option<(Host, Rooms)>,
    /// Two on one database of their own, the later one first, since it has to end first.
    two: Option<([Host; 2], Rooms)>,
    one: Option<Audience>,
    hundred: Option<Audience>,
    thousand: Option<Audience>,
    slowed: Option<(Host, Rooms)>,
    few_rows: Option<Rows>,
    many_rows: Option<Rows>,
    crowds: Option<Crowds>,
    beside: Option<Beside>,
}

impl Bench {
    fn prepare(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<Self, String> {
        let mut absent = |names: &[&str], why: &str| {
            for name in names {
                samples.absent(name, why);
            }
        };
        let redis = plan
            .wants_some("redis.")
            .then(Redis::start)
            .and_then(|started| started.inspect_err(|why| absent(&["redis.lua_always"], why)).ok());
        let names = ["postgres.function", "postgres.statements"];
        // The same server that is under the host, where there is one.
        let peer = || match hosts.base {
            Some(base) => Postgres::on(base),
            None => Postgres::on(&Base::start()?),
        };
        let postgres = plan
            .wants_some("postgres.")
            .then(peer)
            .and_then(|started| started.inspect_err(|why| absent(&names, why)).ok());
        absent(&["nats.sync_always", "nats.push"], &peers::nats_absence());
        let groups = ["post.", "p99.", "deliver.", "fanout.", "ambient.", "read50", "replay."];
        let ours = if groups.iter().any(|group| plan.wants_some(group)) {
            Some(Ours::prepare(plan, hosts, samples)?)
        } else {
            None
        };
        Ok(Self { syncs: Syncs::open()?, hello: Hello::start()?, redis, postgres, ours })
    }

    /// Takes every measurement once.
    fn round(&mut self, plan: &Plan, window: Duration, samples: &mut Samples) {
        // Half of it before the peers and half between them and ours: what it varies by goes to both.
        let before = self.syncs.measure(window / 2, 4096);
        let mut take = |name: &str, measure: &mut dyn FnMut() -> Result<f64, String>| {
            samples.take(plan, name, measure);
        };
        take("axum.hello.c1", &mut || self.hello.measure(window, 1));
        take("axum.hello", &mut || self.hello.measure(window, 64));
        if let Some(redis) = &mut self.redis {
            take("redis.lua_always.c1", &mut || redis.measure(window, 1));
            take("redis.lua_always", &mut || redis.measure(window, 64));
        }
        if let Some(postgres) = &self.postgres {
            take("postgres.function", &mut || postgres.function(window, 64));
            take("postgres.function.hot", &mut || postgres.function_hot(window, 64));
            take("postgres.statements", &mut || postgres.statements(window, 64));
        }
        match before.and_then(|one| Ok((one, self.syncs.measure(window / 2, 4096)?))) {
            Ok((one, two)) => {
                samples.add("limit.fdatasync", f64::midpoint(one.rate, two.rate));
                samples.add("limit.fdatasync.p50_us", f64::midpoint(one.median_us, two.median_us));
            }
            Err(why) => samples.failed("limit.fdatasync", &why),
        }
        if let Some(ours) = &mut self.ours {
            ours.round(plan, window, samples);
        }
    }

    /// What is measured on its own, since a fresh process is part of it.
    fn once(&mut self, plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) {
        if plan.wants("start_ms") || plan.wants("rss_idle_mib") {
            for _ in 0..STARTS {
                match hosts.start(&[]).and_then(|host| host.restart()) {
                    Ok(host) => {
                        samples.add("start_ms", host.started_ms);
                        // A moment for what starts in the background, or idle would not be idle.
                        std::thread::sleep(Duration::from_millis(500));
                        samples.add("rss_idle_mib", host.resident_mib());
                    }
                    Err(why) => samples.failed("start_ms", &why),
                }
            }
        }
        idle::measure(plan, hosts, samples);
        if let Some(rows) = self.ours.as_mut().and_then(|ours| ours.many_rows.take()) {
            many_rows_once(plan, rows, samples);
        }
        for records in [64, 256] {
            let name = format!("limit.sync_of_{records}");
            if plan.wants(&name) {
                match self.syncs.measure(plan.window, 600 * records) {
                    Ok(one) => samples.add(&name, one.rate * records as f64),
                    Err(why) => samples.failed(&name, &why),
                }
            }
        }
    }
}

/// What a returning member and a restart cost on a long log.
fn many_rows_once(plan: &Plan, rows: Rows, samples: &mut Samples) {
    if plan.wants("replay.") || plan.wants_some("replay.") {
        let events = if plan.is_quick() { HOUR_OF_EVENTS / 100 } else { HOUR_OF_EVENTS };
        match replay::replay(&rows, events) {
            Ok(replayed) => {
                samples.add("replay.rate", replayed.rate);
                samples.add("replay.grown_mib", replayed.grown_mib);
            }
            Err(why) => samples.failed("replay", &why),
        }
        match rows.host.restart() {
            Ok(host) => {
                samples.add("replay.restart_ms", host.started_ms);
                samples.add("replay.restart_mib", host.resident_mib());
            }
            Err(why) => samples.failed("replay.restart_ms", &why),
        }
    }
}

impl Ours {
    fn prepare(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<Self, String> {
        eprintln!("preparing the hosts");
        let host = hosts.start(&[])?;
        let rooms = Rooms::open(&host)?;
        let mut weakened = |name: &str, flag: &str| {
            if !plan.wants(name) {
                return None;
            }
            let made =
                hosts.start(&[flag]).and_then(|host| Rooms::open(&host).map(|rooms| (host, rooms)));
            made.inspect_err(|why| samples.failed(name, why)).ok()
        };
        let unbatched = weakened("post.batching_vs_off", "--dangerous-no-batching");
        let unsynced = weakened("post.full_vs_normal", "--dangerous-sync-normal");
        let slowed = weakened("post.fsync_plus_2ms", "--dangerous-slow-sync-ms=2");
        let pair = || {
            let first = hosts.start(&[])?;
            let rooms = Rooms::open(&first)?;
            Ok::<_, String>(([first.beside()?, first], rooms))
        };
        let two = (hosts.base.is_some() && plan.wants("post.c64.two_hosts")).then(pair);
        let two = two
            .and_then(|two| two.inspect_err(|why| samples.failed("post.c64.two_hosts", why)).ok());
        let mut audience = |names: &[&str], agents: usize| {
            if !names.iter().any(|name| plan.wants(name)) {
                return None;
            }
            let gathered = Audience::gather(&host, agents);
            gathered.inspect_err(|why| samples.failed(names[0], why)).ok()
        };
        let one = audience(&["deliver.s1.p50_us"], 1);
        let hundred = audience(&["deliver.s100.p50_us", "fanout.s100", "fanout.settled.s100"], 100);
        let thousand = audience(&["fanout.s1000"], 1_000);
        let crowds = if plan.wants_some("ambient.") {
            Crowds::gather(&host).inspect_err(|why| samples.failed("ambient", why)).ok()
        } else {
            None
        };
        let beside = if plan.wants_some("p99.") {
            Beside::gather(&host).inspect_err(|why| samples.failed("p99", why)).ok()
        } else {
            None
        };
        let mut filled = |names: &[&str], rows: u64| {
            if !names.iter().any(|name| plan.wants(name)) {
                return None;
            }
            eprintln!("writing {rows} rows");
            let filled = Rows::fill(hosts, rows);
            filled.inspect_err(|why| samples.failed(names[0], why)).ok()
        };
        let few = ["post.us.rows_1k", "read50.us.rows_1k"];
        let few_rows = filled(&few, FEW_ROWS);
        let many =
            ["post.us.rows_5m", "read50", "read50.us.rows_5m", "replay.rate", "replay.grown_mib"];
        let many_rows = filled(&many, if plan.is_quick() { MANY_ROWS / 100 } else { MANY_ROWS });
        Ok(Self {
            host,
            rooms,
            unbatched,
            unsynced,
            two,
            slowed,
            one,
            hundred,
            thousand,
            crowds,
            beside,
            few_rows,
            many_rows,
        })
    }

    fn round(&mut self, plan: &Plan, window: Duration, samples: &mut Samples) {
        let mut take = |name: &str, measure: &mut dyn FnMut() -> Result<f64, String>| {
            samples.take(plan, name, measure);
        };
        let (host, rooms) = (&self.host, &mut self.rooms);
        take("post.c1", &mut || Ok(rooms.post(host, window, 1, 100)?.rate));
        let (mut kib_per_post, on_disk) = (None, host.has_its_database());
        take("post.c64", &mut || {
            let before = host.written_bytes();
            let outcome = rooms.post(host, window, 64, 100)?;
            let kib = (host.written_bytes() - before) / 1024.0;
            // On PostgreSQL it is the server that writes.
            kib_per_post = on_disk.then_some(kib / outcome.answers.max(1) as f64);
            Ok(outcome.rate)
        });
        take("post.c256", &mut || Ok(rooms.post(host, window, 256, 100)?.rate));
        take("post.c64.c2a", &mut || Ok(rooms.call(host, window, 64)?.rate));
        take("post.hot_channel", &mut || Ok(rooms.post(host, window, 64, 1)?.rate));
        if let Some(([later, first], rooms)) = &mut self.two {
            take("post.c64.two_hosts", &mut || {
                Ok(rooms.post_at(&[later, first], window, 64, 100)?.rate)
            });
        }
        if let Some((host, rooms)) = &mut self.unbatched {
            take("post.batching_vs_off", &mut || Ok(rooms.post(host, window, 64, 100)?.rate));
        }
        if let Some((host, rooms)) = &mut self.unsynced {
            take("post.full_vs_normal", &mut || Ok(rooms.post(host, window, 64, 100)?.rate));
        }
        if let Some(crowds) = &mut self.crowds {
            take("ambient.us.roster_10", &mut || crowds.ambient(host, window, 10));
            take("ambient.us.roster_10000", &mut || crowds.ambient(host, window, 10_000));
        }
        if let Some(beside) = &mut self.beside {
            take("p99.alone", &mut || beside.p99(host, window, false));
            take("p99.beside_flood", &mut || beside.p99(host, window, true));
        }
        if self.one.is_some() || self.hundred.is_some() || self.thousand.is_some() {
            // The posts before are indexed by then: no delivery pays for them.
            settle(host);
        }
        if let Some(one) = &mut self.one {
            take("deliver.s1.p50_us", &mut || Ok(median(&one.deliver(window)?)));
        }
        if let Some(hundred) = &mut self.hundred {
            take("deliver.s100.p50_us", &mut || Ok(median(&hundred.deliver(window)?)));
            take("fanout.s100", &mut || hundred.fan_out(window, Settles::Afterwards));
            take("fanout.settled.s100", &mut || hundred.fan_out(window, Settles::AtOnce));
        }
        if let Some(thousand) = &mut self.thousand {
            take("fanout.s1000", &mut || thousand.fan_out(window, Settles::Afterwards));
        }
        if let Some((host, rooms)) = &mut self.slowed {
            take("post.fsync_plus_2ms.c1", &mut || Ok(rooms.post(host, window, 1, 100)?.rate));
            take("post.fsync_plus_2ms", &mut || Ok(rooms.post(host, window, 64, 100)?.rate));
        }
        if let Some(few) = &mut self.few_rows {
            take("post.us.rows_1k", &mut || few.post_us(window));
            take("read50.us.rows_1k", &mut || Ok(1e6 / few.read_newest(window)?));
        }
        if let Some(many) = &mut self.many_rows {
            take("post.us.rows_5m", &mut || many.post_us(window));
            take("read50.us.rows_5m", &mut || Ok(1e6 / many.read_newest(window)?));
            take("read50.us.anywhere_5m", &mut || many.read_us(window));
            take("read50", &mut || many.read_newest(window));
        }
        if let Some(kib) = kib_per_post {
            samples.add("bytes_per_post", kib);
        }
    }
}
