//! A database that is there and does not do as asked: it cancels, finds a deadlock, has no space, no connection
//! or no right left. Commands are refused with a code that may be tried again, or done; nothing is half done.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use chorus_cluster::{Cluster, Durability, checked, program, schema, sql_at};
use chorus_core::commands::messages::Logged;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use chorus_testing::eventually_blocking;

use super::away::{PATIENCE, insist, texts};
use super::{ground, problems};
use crate::ground::{ADA, Ground, drawn, person, post};

/// Another's session with the database, in which statements are typed.
pub(super) struct Session {
    psql: Child,
    say: ChildStdin,
    hear: BufReader<ChildStdout>,
}

impl Session {
    pub(super) fn at(url: &str) -> Self {
        let mut psql = Process::new(program("psql").unwrap());
        psql.args(["-X", "-A", "-t", "-q", "-d", url]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut psql = psql.spawn().unwrap();
        let (say, hear) = (psql.stdin.take().unwrap(), psql.stdout.take().unwrap());
        Self { psql, say, hear: BufReader::new(hear) }
    }

    /// Asks for something, and does not wait for it.
    fn ask(&mut self, sql: &str) {
        writeln!(self.say, "{sql}\n\\echo done").unwrap();
    }

    /// Waits until what was asked for is through.
    fn done(&mut self) {
        let mut line = String::new();
        while line.trim() != "done" {
            line.clear();
            assert_ne!(self.hear.read_line(&mut line).unwrap(), 0, "the session ended");
        }
    }

    pub(super) fn does(&mut self, sql: &str) {
        self.ask(sql);
        self.done();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Its end is the end of what it holds.
        let _ = self.psql.kill();
        let _ = self.psql.wait();
    }
}

type Answers = Vec<Receiver<Result<Logged, Refusal>>>;

/// Posts to these rooms in one batch: the writer is held up until all of them wait.
fn in_one_batch(ground: &Ground, posts: &[(Uid, &str)]) -> Answers {
    let (go, wait) = mpsc::channel::<()>();
    let (held, holds) = mpsc::channel();
    let nothing = post(Uid(1), "to no room", None);
    ground.writer.submit(person(), nothing, drawn(), move |_| {
        held.send(()).unwrap();
        wait.recv().unwrap();
    });
    holds.recv().unwrap();
    let answers = posts.iter().zip(1..).map(|((room, text), key)| {
        let (answer, answered) = mpsc::channel();
        let post = post(*room, text, Some(key));
        ground.writer.submit(person(), post, drawn(), move |done| {
            answer.send(done.map_err(Refusal::from)).unwrap();
        });
        answered
    });
    let answers = answers.collect();
    go.send(()).unwrap();
    answers
}

/// Waits until the database says so.
fn until(url: &str, condition: &str) {
    let until = Instant::now() + PATIENCE;
    while sql_at(url, &format!("SELECT count(*) > 0 {condition}")).unwrap() != "t" {
        assert!(Instant::now() < until, "never: {condition}");
    }
}

const WRITER_WAITS: &str = "FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    WHERE application_name = 'chorus writer' AND NOT granted";

#[test]
fn statements_that_the_server_cancels_are_refused_and_nothing_of_them_is_there() {
    let url = schema().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.say(room.uid, "before");
    let mut other = Session::at(&url);
    other.does("BEGIN; LOCK TABLE event IN EXCLUSIVE MODE;");
    let answers = in_one_batch(&ground, &[(room.uid, "one"), (room.uid, "two")]);
    // First the batch, then each of its commands by itself; as when statement_timeout has passed.
    let cancel = format!("SELECT pg_cancel_backend(a.pid) {WRITER_WAITS}");
    for _ in 0..3 {
        until(&url, WRITER_WAITS);
        let waits = sql_at(
            &url,
            "SELECT max(query_start) FROM pg_stat_activity WHERE application_name = 'chorus writer'",
        );
        sql_at(&url, &cancel).unwrap();
        let since = waits.unwrap();
        until(
            &url,
            &format!(
                "FROM pg_stat_activity WHERE application_name = 'chorus writer' AND query_start > '{since}'"
            ),
        );
    }
    for answered in answers {
        let refused = answered.recv_timeout(PATIENCE).unwrap().unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.message.contains("canceling statement"), "{refused}");
    }
    assert_eq!(texts(&ground, room.uid), ["before"]);
    other.does("ROLLBACK;");
    insist(&ground, room.uid, "one", 1);
    assert_eq!(texts(&ground, room.uid), ["before", "one"]);
    assert!(ground.writer.health().ok);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}

#[test]
fn a_batch_that_is_ended_for_a_deadlock_is_done_command_by_command() {
    // Whoever has waited so long looks whether it waits for ever: the writer, and not the other.
    let cluster = Cluster::start(Durability::Quick, &["-c", "deadlock_timeout=4s"]).unwrap();
    let url = cluster.url("postgres");
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let one = ground.settle();
    let two = ground.channel("another");
    let lock = |key: u64| format!("SELECT 1 FROM head WHERE conversation = {key} FOR UPDATE;");
    let mut other = Session::at(&url);
    other.does(&format!("SET deadlock_timeout = '10min'; BEGIN; {}", lock(two.key.0)));
    let answers = in_one_batch(&ground, &[(one.uid, "here"), (two.uid, "and there")]);
    until(&url, WRITER_WAITS);
    // In the other order.
    other.does(&format!("{} COMMIT;", lock(one.key.0)));
    for answered in answers {
        let done = answered.recv_timeout(PATIENCE).unwrap();
        assert!(matches!(done, Ok(Logged { duplicate: false, .. })), "{done:?}");
    }
    assert_eq!(ground.writer.stats().split, 1, "it was a deadlock");
    assert_eq!(texts(&ground, one.uid), ["here"]);
    assert_eq!(texts(&ground, two.uid), ["and there"]);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}

/// A file system of a few MiB, gone with the value.
struct Small(tempfile::TempDir);

impl Small {
    /// None where this user may not mount one.
    fn mount(owner: &std::path::Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let of = std::fs::metadata(owner).unwrap();
        let folder = tempfile::Builder::new().prefix("chorus-small-").tempdir().unwrap();
        let owner = format!("size=4m,mode=700,uid={},gid={}", of.uid(), of.gid());
        let mut mount = Process::new("mount");
        mount.args(["-t", "tmpfs", "-o", &owner, "tmpfs"]).arg(folder.path());
        checked(&mut mount).is_ok().then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let mut unmount = Process::new("umount");
        // Now, whoever is still in it.
        checked(unmount.arg("-l").arg(self.0.path())).unwrap();
    }
}

#[test]
fn a_server_without_space_is_waited_for() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let url = cluster.url("postgres");
    let small = Small::mount(cluster.socket());
    if let Some(Small(folder)) = &small {
        let space = format!("CREATE TABLESPACE small LOCATION '{}'", folder.path().display());
        cluster.sql("postgres", &space).unwrap();
        // What is given away when it has become narrow.
        let ballast = "CREATE TABLE ballast (b bytea) TABLESPACE small;
            ALTER TABLE ballast ALTER b SET STORAGE EXTERNAL;
            INSERT INTO ballast SELECT decode(repeat('00', 100000), 'hex') FROM generate_series(1, 10)";
        cluster.sql("postgres", ballast).unwrap();
    }
    let narrow = if small.is_some() { "?options=-c%20default_tablespace%3Dsmall" } else { "" };
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &format!("{url}{narrow}"));
    let room = ground.settle();
    ground.connect(ADA);
    if small.is_none() {
        // Where nothing may be mounted, the server says the same of its own accord.
        let full = "CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF (SELECT count(*) FROM event) > 20 THEN RAISE disk_full; END IF; RETURN NEW; END $$;
            CREATE TRIGGER full BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION full();";
        cluster.sql("postgres", full).unwrap();
    }
    // Of letters that do not repeat, so that they are as large on the disk.
    let mut at = 7_u64;
    let mut long = || -> String {
        let letter = |_| {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + ((at >> 33) % 90) as u8)
        };
        (0..30_000).map(letter).collect()
    };
    let mut said = Vec::new();
    let refused = loop {
        let text = long();
        match ground.ask(person(), post(room.uid, &text, None)) {
            Ok(_) => said.push(text),
            Err(refused) => break refused,
        }
        assert!(said.len() < 200, "it is never full");
    };
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("the disk is full"), "{refused}");
    let health = ground.writer.health();
    assert!(!health.ok && health.reason.unwrap().contains("free some space"));
    assert_eq!(texts(&ground, room.uid), said, "nothing of what was refused");

    let space = if small.is_some() { "DROP TABLE ballast" } else { "DROP FUNCTION full CASCADE" };
    cluster.sql("postgres", space).unwrap();
    let last = long();
    insist(&ground, room.uid, &last, 1);
    said.push(last);
    assert_eq!(texts(&ground, room.uid), said);
    assert!(ground.writer.health().ok);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
    drop(cluster);
}

/// A role that owns a database of its own, and how it reaches that.
fn guest(cluster: &Cluster) -> String {
    cluster.sql("postgres", "CREATE ROLE guest LOGIN").unwrap();
    cluster.sql("postgres", "CREATE DATABASE guest OWNER guest").unwrap();
    cluster.url("guest").replace("chorus@", "guest@")
}

#[test]
fn connections_that_run_out_are_waited_for() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let url = guest(&cluster);
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.say(room.uid, "before");
    cluster.sql("guest", "ALTER ROLE guest CONNECTION LIMIT 2").unwrap();
    let cut =
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'guest'";
    cluster.sql("guest", cut).unwrap();
    let mut other = Session::at(&url);
    other.does("SELECT 1;");
    // The other one is that by which the lease is renewed.
    let count = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'guest'";
    eventually_blocking("it is there", || cluster.sql("guest", count).unwrap() == "2");
    let refused = ground.ask(person(), post(room.uid, "meanwhile", None)).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    ground.clock.advance(3_000);
    ground.ask(person(), post(room.uid, "meanwhile", None)).unwrap_err();
    let health = ground.writer.health();
    assert!(
        !health.ok && health.reason.as_ref().unwrap().contains("too many connections"),
        "{health:?}"
    );
    let Err(why) = ground.readers.heads() else { panic!("it was read") };
    assert!(why.to_string().contains("too many connections"), "{why}");
    drop(other);
    insist(&ground, room.uid, "after", 1);
    // The writer has the one that is left: reads fail, and say why; writes go on.
    assert!(ground.readers.heads().is_err());
    cluster.sql("guest", "ALTER ROLE guest CONNECTION LIMIT -1").unwrap();
    assert_eq!(texts(&ground, room.uid), ["before", "after"]);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}

#[test]
fn rights_that_are_taken_away_are_named_and_nothing_is_half_written() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let url = guest(&cluster);
    let folder = tempfile::tempdir().unwrap();
    let ground = ground(folder.path(), &url);
    let room = ground.settle();
    ground.say(room.uid, "before");
    // The head is written before the log is: both or neither.
    cluster.sql("guest", "REVOKE INSERT ON event FROM guest").unwrap();
    for _ in 0..2 {
        let refused = ground.ask(person(), post(room.uid, "meanwhile", Some(1))).unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.message.contains("permission denied for table event"), "{refused}");
    }
    assert_eq!(texts(&ground, room.uid), ["before"]);
    cluster.sql("guest", "GRANT INSERT ON event TO guest").unwrap();
    insist(&ground, room.uid, "after", 1);
    assert_eq!(texts(&ground, room.uid), ["before", "after"]);
    ground.writer.stop();
    assert_eq!(problems(&url), []);
}
