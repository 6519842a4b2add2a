//! Files in a real object store: SeaweedFS, which speaks S3.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chorus_clients::kit::Kit;
use serde_json::json;

use crate::house::House;

const KEY: &str = "testaccess";
const SECRET: &str = "testsecret1234567890";

/// The store, on ports of its own.
struct Store {
    server: Option<Child>,
    folder: tempfile::TempDir,
    port: u16,
}

impl Store {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let who = json!({"identities": [{"name": "test", "actions": ["Admin", "Read", "Write", "List"],
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}]}]});
        fs::write(folder.path().join("who.json"), who.to_string()).unwrap();
        let mut store = Self { server: None, folder, port: free_ports() };
        store.start();
        store
    }

    fn start(&mut self) {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let (at, port) = (self.folder.path(), self.port);
        let mut weed = Command::new(kit.folder().join("python/bin/weed"));
        weed.args([
            "-logtostderr=true",
            "server",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-filer",
            "-s3",
        ]);
        weed.arg(format!("-dir={}", at.display()));
        // It would tell its makers that it runs.
        weed.args(["-master.telemetry=false", "-master.electionTimeout=1s", "-volume.max=0"]);
        weed.args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.autoCreateBucket=false"]);
        weed.arg(format!("-s3.config={}", at.join("who.json").display()));
        for (number, option) in [
            "s3.port",
            "master.port",
            "master.port.grpc",
            "volume.port",
            "volume.port.grpc",
            "filer.port",
            "filer.port.grpc",
            "s3.port.grpc",
        ]
        .iter()
        .enumerate()
        {
            weed.arg(format!("-{option}={}", port + u16::try_from(number).unwrap()));
        }
        for socket in ["filer", "s3"] {
            weed.arg(format!(
                "-{socket}.localSocket={}",
                at.join(format!("{socket}.sock")).display()
            ));
        }
        // One file for a bucket.
        weed.env("WEED_MASTER_VOLUME_GROWTH_COPY_1", "1").current_dir(at);
        weed.stdout(Stdio::null()).stderr(fs::File::create(at.join("log")).unwrap());
        self.server = Some(weed.spawn().unwrap());
        // The bucket is there, or was made now.
        chorus_testing::eventually_blocking("the store answers", || {
            [200, 409].contains(&self.ask("PUT", "/files").0)
        });
    }

    fn kill(&mut self) {
        let mut server = self.server.take().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the store answers to curl, which signs as S3 wants it.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--max-time", "5", "--aws-sigv4", "aws:amz:us-east-1:s3"]);
        curl.args(["--user", &format!("{KEY}:{SECRET}"), "--request", method]);
        curl.args(["--write-out", "\n%{http_code}", &format!("{}{path}", self.url())]);
        let printed = String::from_utf8(curl.output().unwrap().stdout).unwrap();
        let (body, status) = printed.rsplit_once('\n').unwrap_or_default();
        (status.parse().unwrap_or(0), body.to_owned())
    }

    /// The names of its objects.
    fn objects(&self) -> Vec<String> {
        let (_, listed) = self.ask("GET", "/files?list-type=2");
        let names = listed.split("<Key>").skip(1);
        names.map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }

    fn settings(&self, bucket: &str) -> String {
        format!(
            "[files]\nstore = \"s3://{bucket}/chorus\"\nendpoint = \"{}\"\naccess_key = \"{KEY}\"\nsecret_key = \
             \"{SECRET}\"\n",
            self.url()
        )
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The first of eight ports in a row that nobody has, and no test beside this one looks for.
fn free_ports() -> u16 {
    let from = 20_000 + u16::try_from(std::process::id() % 4_000).unwrap() * 8;
    (from..60_000)
        .step_by(8)
        .find(|first| {
            (*first..first + 8).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
        })
        .unwrap()
}

fn file(house: &House, name: &str, bytes: &[u8]) -> PathBuf {
    let path = house.folder("files").join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn brought(house: &House, path: &Path) -> String {
    let made = house.json(&["asset", "add", path.to_str().unwrap()]);
    made["asset_id"].as_str().unwrap().to_owned()
}

fn read(house: &House, id: &str) -> Vec<u8> {
    let to = house.folder("out").join("file");
    let _ = fs::remove_file(&to);
    house.chorus(&["asset", "get", id, to.to_str().unwrap()]);
    fs::read(&to).unwrap()
}

// covers: OPS-174
#[test]
fn the_bytes_of_larger_files_are_in_the_object_store_and_come_from_there() {
    let mut store = Store::open();
    let mut house = House::with_settings(&store.settings("files"));
    house.chorus(&["channel", "create", "room"]);
    let large: Vec<u8> = (0..2_000_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
    let small = b"a small one".to_vec();
    let (path, little) = (file(&house, "big.txt", &large), file(&house, "little.txt", &small));
    let (big, little) = (brought(&house, &path), brought(&house, &little));
    assert_eq!(store.objects().len(), 1, "{:?}", store.objects());
    assert!(store.objects()[0].starts_with("chorus/wk_"), "{:?}", store.objects());
    assert_eq!((read(&house, &big), read(&house, &little)), (large.clone(), small.clone()));
    let said = house.json(&["post", "#room", "look at this", "--attach", path.to_str().unwrap()]);
    assert_eq!(store.objects().len(), 1, "the same file is kept once: {:?}", store.objects());
    let event = said["event_id"].as_str().unwrap().to_owned();
    house.kill();
    house.start_again();
    assert_eq!(read(&house, &big), large);
    // A backup needs nothing of the store.
    let backup = house.folder("backups").join("all.db");
    house.chorus(&["backup", backup.to_str().unwrap()]);
    assert!(fs::metadata(&backup).unwrap().len() > large.len() as u64);
    // While the store is away, small files and words go on.
    store.kill();
    let path = file(&house, "other.txt", &large[1..]);
    let refused = house.command(&["asset", "add", path.to_str().unwrap()]).output().unwrap();
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("object store cannot be used now"), "{why}");
    house.chorus(&["post", "#room", "still here"]);
    assert_eq!(read(&house, &little), small);
    store.start();
    let other = brought(&house, &path);
    assert_eq!(read(&house, &other), large[1..]);
    assert_eq!(
        store.objects().len(),
        2,
        "what was refused has left nothing: {:?}",
        store.objects()
    );
    // What is erased is gone there too.
    house.chorus(&["erase", &event, "--yes"]);
    chorus_testing::eventually_blocking("its object is dropped", || store.objects().len() == 1);
    let restored = House::open();
    let data = restored.folder("again").join("data");
    let mut restore = Command::new(crate::house::binary());
    restore.arg("restore").arg(&backup).arg("--data").arg(&data);
    assert!(restore.status().unwrap().success());
    let mut export = Command::new(crate::house::binary());
    let lines = restored.folder("again").join("lines");
    export.arg("export").arg(&lines).arg("--data").arg(&data).current_dir(restored.folder("again"));
    assert!(export.status().unwrap().success());
    assert!(fs::metadata(&lines).unwrap().len() > large.len() as u64);
}

// covers: OPS-174
#[test]
fn a_store_that_refuses_is_said_at_the_start() {
    let store = Store::open();
    for (settings, says) in [
        (store.settings("nope"), "NoSuchBucket"),
        (store.settings("files").replace(SECRET, "wrong"), "403"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("chorus.toml"), settings).unwrap();
        let mut serve = Command::new(crate::house::binary());
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
        let ended = serve.current_dir(folder.path()).output().unwrap();
        let why = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && why.contains("files.store"), "{why}");
        assert!(why.contains(says), "{why}");
        assert!(!why.contains("wrong"), "{why}");
        assert!(!folder.path().join("data/chorus.db").exists());
    }
}
