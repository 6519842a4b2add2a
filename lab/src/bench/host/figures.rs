//! The lines of `bench host`: what is compared with what, and the bounds we set ourselves.

use crate::bench::report::Figure;

/// In the order in which they are printed: limits and peers first, then ours.
pub(super) const FIGURES: &[Figure] = &[
    Figure::peer("limit.fdatasync", "syncs/s"),
    Figure::peer("limit.fdatasync.p50_us", "us"),
    Figure::peer("limit.sync_of_64", "records/s"),
    Figure::peer("limit.sync_of_256", "records/s"),
    Figure::peer("axum.hello.c1", "requests/s"),
    Figure::peer("axum.hello", "requests/s"),
    Figure::peer("redis.lua_always.c1", "posts/s"),
    Figure::peer("redis.lua_always", "posts/s"),
    Figure::peer("postgres.function", "posts/s"),
    Figure::peer("postgres.function.hot", "posts/s"),
    Figure::peer("postgres.statements", "posts/s"),
    Figure::ours("post.c1", "posts/s").over("limit.fdatasync").at_least(0.6),
    Figure::ours("post.c1", "posts/s").over_sample("redis.lua_always", "redis.lua_always.c1"),
    Figure::ours("post.c64", "posts/s").over("limit.fdatasync").at_least(6.0),
    Figure::ours("post.c64", "posts/s").over("redis.lua_always").at_least(0.9),
    Figure::ours("post.c64", "posts/s").over("nats.sync_always").at_least(6.0),
    Figure::ours("post.c64", "posts/s").over("postgres.function").at_least(3.0),
    Figure::ours("post.c64", "posts/s").over("postgres.statements").at_least(10.0),
    Figure::ours("post.c64.c2a", "posts/s").over("limit.fdatasync"),
    Figure::ours("post.c64.c2a", "posts/s").over("redis.lua_always").at_least(1.2),
    Figure::ours("post.c256", "posts/s").over("post.c64").at_least(1.2),
    Figure::ours("post.hot_channel", "posts/s")
        .over_sample("post.c64 over 100 channels", "post.c64")
        .at_least(0.9),
    Figure::ours("post.batching_vs_off", "posts/s")
        .of("post.c64")
        .over_sample("batching off", "post.batching_vs_off")
        .at_least(5.0),
    Figure::ours("post.full_vs_normal", "posts/s")
        .of("post.c64")
        .over_sample("sync normal", "post.full_vs_normal")
        .at_least(0.9),
    Figure::ours("p99.alone", "us"),
    Figure::ours("p99.beside_flood", "us").over("p99.alone").at_most(4.0),
    Figure::ours("deliver.s1.p50_us", "us")
        .over_sample("limit.fdatasync", "limit.fdatasync.p50_us")
        .at_most(2.5),
    Figure::ours("deliver.s100.p50_us", "us")
        .over_sample("limit.fdatasync", "limit.fdatasync.p50_us")
        .at_most(10.0),
    Figure::ours("fanout.s100", "deliveries/s").over("nats.push").at_least(1.5),
    Figure::ours("fanout.s100", "deliveries/s").over("axum.hello").at_least(0.6),
    Figure::ours("fanout.settled.s100", "deliveries/s").over("axum.hello"),
    Figure::ours("fanout.s1000", "deliveries/s").over("nats.push").at_least(1.5),
    Figure::ours("fanout.s1000", "deliveries/s").over("fanout.s100").at_least(0.8),
    Figure::ours("ambient.us.roster_10", "us"),
    Figure::ours("ambient.us.roster_10000", "us").over("ambient.us.roster_10").at_most(1.2),
    Figure::ours("post.fsync_plus_2ms", "posts/s")
        .over_sample("one client", "post.fsync_plus_2ms.c1")
        .at_least(20.0),
    Figure::ours("post.us.rows_1k", "us"),
    Figure::ours("post.us.rows_5m", "us").over("post.us.rows_1k").at_most(1.2),
    Figure::ours("read50", "reads/s").over("axum.hello").at_least(0.25),
    Figure::ours("read50.us.rows_1k", "us"),
    Figure::ours("read50.us.rows_5m", "us").over("read50.us.rows_1k").at_most(1.2),
    Figure::ours("read50.us.anywhere_5m", "us"),
    Figure::ours("replay.rate", "events/s"),
    Figure::ours("replay.grown_mib", "MiB").at_most(32.0),
    Figure::ours("replay.restart_ms", "ms"),
    Figure::ours("replay.restart_mib", "MiB"),
    Figure::ours("conn.idle_kib", "KiB").at_most(20.0),
    Figure::ours("conn.open_10000_s", "s"),
    Figure::ours("conn.close_10000_s", "s"),
    Figure::ours("cpu_idle_percent", "percent").at_most(1.0),
    Figure::ours("start_ms", "ms").at_most(50.0),
    Figure::ours("rss_idle_mib", "MiB").at_most(25.0),
    Figure::ours("bytes_per_post", "KiB").at_most(12.0),
];

/// On PostgreSQL: nobody is measured against the disk or another kind of server, but against the same server asked
/// directly.
pub(super) fn on_postgres() -> Vec<Figure> {
    let elsewhere = [
        "limit.fdatasync",
        "redis.lua_always",
        "nats.sync_always",
        "nats.push",
        "postgres.function",
        "postgres.statements",
    ];
    let ours = [
        Figure::ours("post.c1", "posts/s"),
        Figure::ours("post.c64", "posts/s").over("postgres.function").at_least(1.5),
        Figure::ours("post.c64.two_hosts", "posts/s").over("post.c64"),
        Figure::ours("post.c64.c2a", "posts/s").over("postgres.function"),
        Figure::ours("post.hot_channel", "posts/s")
            .over_sample("postgres.function on one channel", "postgres.function.hot")
            .at_least(5.0),
        Figure::ours("deliver.s1.p50_us", "us"),
        Figure::ours("deliver.s100.p50_us", "us"),
    ];
    let others = FIGURES.iter().filter(|figure| !figure.is_against(&elsewhere)).copied();
    others.chain(ours).collect()
}
