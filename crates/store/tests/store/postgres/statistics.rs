//! A planner that knows nothing of a new database reads a whole workspace for each row.

use chorus_testing::eventually_blocking;

// covers: OPS-172
#[test]
fn a_new_database_has_statistics_soon_after_it_has_rows() {
    // Nobody else gathers them.
    let cluster = super::Cluster::start(super::Durability::Quick, &["-c", "autovacuum=off"]);
    let cluster = cluster.unwrap();
    let url = cluster.url("postgres");
    let folder = tempfile::tempdir().unwrap();
    let ground = super::ground(folder.path(), &url);
    let room = ground.settle();
    for n in 0..800 {
        ground.say(room.uid, &format!("and {n}?"));
    }
    eventually_blocking("there are statistics", || {
        let sql =
            "SELECT count(*) FROM pg_stats WHERE tablename = 'event' AND attname = 'workspace'";
        cluster.sql("postgres", sql).unwrap() == "1"
    });
    ground.writer.stop();
}
