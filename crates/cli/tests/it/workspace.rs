//! Which host a command goes to: that of the folder at hand, and never another by itself.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;

use crate::cli::{Going, Ran, chorus, run, words};
use crate::host::Host;

/// `chorus`, in a folder, for a user whose configuration is in `home`.
fn at(folder: &Path, home: &Path, arguments: &[&str]) -> Ran {
    let mut command = chorus();
    command.args(words(arguments)).current_dir(folder).env("XDG_CONFIG_HOME", home);
    run(&mut command)
}

/// A user who is signed in to this host.
fn signed_in(host: &Host) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let link = host.run(&["signin"]).ok().out;
    at(home.path(), home.path(), &["login", link.trim(), "--as", "there"]).ok();
    home
}

// covers: OPS-482
#[test]
fn in_a_workspace_no_command_goes_to_another_host_by_itself() {
    let host = Host::with_room(&[]);
    let home = signed_in(&host);
    let elsewhere = tempfile::tempdir().unwrap();
    at(elsewhere.path(), home.path(), &["post", "ops", "from anywhere"]).ok();

    let marks: [fn(&Path); 5] = [
        |here| fs::write(here.join("chorus.toml"), "").unwrap(),
        |here| {
            fs::write(here.join("chorus.toml"), "data = \"room\"\n").unwrap();
            fs::create_dir(here.join("room")).unwrap();
        },
        |here| fs::write(here.join("chorus-data/chorus.db"), "").unwrap(),
        |here| fs::create_dir(here.join("chorus-data/keys")).unwrap(),
        |here| fs::write(here.join("chorus-data/host.json"), "{}").unwrap(),
    ];
    for (n, mark) in marks.iter().enumerate() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("chorus-data")).unwrap();
        mark(here.path());
        let ran = at(here.path(), home.path(), &["post", "ops", "a secret"]);
        assert_eq!(ran.code, 1, "{n}: {}", ran.out);
        for says in ["no host runs on", "chorus serve", "--profile there"] {
            assert!(ran.err.contains(says), "{n}: {says:?} is not in {}", ran.err);
        }
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        at(here.path(), home.path(), &["post", "ops", "meant", "--profile", "there"]).ok();
    }
    let said = host.run(&["tail", "ops", "--follow", "false"]).ok().out;
    assert!(said.contains("meant") && !said.contains("a secret"), "{said}");

    // Where there is nothing, both ways to a host are told.
    let nobody = at(elsewhere.path(), elsewhere.path(), &["whoami"]);
    assert!(
        nobody.err.contains("chorus serve") && nobody.err.contains("chorus login"),
        "{}",
        nobody.err
    );
}

/// A folder from elsewhere, which says that its host is at this address.
fn planted(url: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("chorus-data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("host.json"), format!("{{\"url\":{url:?},\"pid\":1}}")).unwrap();
    fs::write(data.join("operator.token"), "a.b.c").unwrap();
    folder
}

// covers: OPS-503
#[test]
fn a_folder_from_elsewhere_sends_no_token_anywhere() {
    let host = Host::start();
    let attacker = TcpListener::bind("127.0.0.1:0").unwrap();
    attacker.set_nonblocking(true).unwrap();
    let folder = planted(&format!("http://{}", attacker.local_addr().unwrap()));
    let data = folder.path().join("chorus-data");
    let tried = || {
        let mut command = chorus();
        command.arg("whoami").current_dir(folder.path()).env("CHORUS_TOKEN", "secret");
        let ran = run(&mut command);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.err.contains("no host runs on"), "{}", ran.err);
        assert!(attacker.accept().is_err(), "it was asked");
    };
    tried();
    fs::write(data.join("lock"), "").unwrap();
    tried();
    // A lock that a host of this user holds elsewhere is none of this folder.
    fs::remove_file(data.join("lock")).unwrap();
    std::os::unix::fs::symlink(host.data().join("lock"), data.join("lock")).unwrap();
    tried();
    // Where the lock is held, it is believed.
    fs::remove_file(data.join("lock")).unwrap();
    let lock = File::create(data.join("lock")).unwrap();
    lock.lock().unwrap();
    let host_file = format!("{{\"url\":{:?},\"pid\":1}}", host.url());
    fs::write(data.join("host.json"), host_file).unwrap();
    let ran = run(chorus().arg("whoami").current_dir(folder.path()));
    assert!(ran.err.contains("chorus signin"), "it asked the host: {}", ran.err);
}

// covers: OPS-503
#[test]
fn a_folder_that_somebody_else_serves_is_not_believed_unless_it_is_named() {
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let host = Host::start();
    let folder = planted(&host.url());
    let data = folder.path().join("chorus-data");
    let lock = File::create(data.join("lock")).unwrap();
    lock.lock().unwrap();
    let other = nix::unistd::Uid::from_raw(65_534);
    nix::unistd::chown(&data.join("host.json"), Some(other), None).unwrap();
    let ran = run(chorus().arg("whoami").current_dir(folder.path()));
    assert!(ran.err.contains("is another user's"), "{}", ran.err);
    let named = run(chorus().args(["whoami", "--data"]).arg(&data));
    assert!(named.err.contains("chorus signin"), "it asked the host: {}", named.err);
}

// covers: OPS-483
#[test]
fn a_host_that_runs_already_is_called_that() {
    let host = Host::start();
    let again = |listen: &str| host.run(&["serve", "--listen", listen]);
    let taken = host.url().replace("http://", "");
    for listen in [taken.as_str(), "127.0.0.1:0"] {
        let ran = again(listen);
        let runs = format!("runs already, at {}", host.url());
        assert!(ran.code == 1 && ran.err.contains(&runs), "{}", ran.err);
        assert!(!ran.err.contains("--listen"), "{}", ran.err);
    }
}

// covers: OPS-505
#[test]
fn the_memory_of_an_agent_is_of_one_workspace() {
    let (mine, other) = (Host::with_room(&[]), Host::with_room(&[]));
    let state = tempfile::tempdir().unwrap();
    let join = |host: &Host| {
        let mut command = chorus();
        command.args(["join", "--agent", "pal", "--channel", "ops", "--runtime", "cmd:cat"]);
        command.arg("--state-dir").arg(state.path()).arg("--data").arg(host.data());
        command
    };
    let joined = Going::start(&mut join(&mine));
    joined.wait(|line| line.starts_with("pal joins").then_some(()));
    chorus_testing::eventually_blocking("it is there", || {
        mine.run(&["agents"]).ok().out.contains("online")
    });
    joined.kill();
    let refused = run(&mut join(&other));
    assert_eq!(refused.code, 1, "{}", refused.out);
    for says in ["another workspace", "--state-dir", "--profile"] {
        assert!(refused.err.contains(says), "{}", refused.err);
    }
    let agents = other.run(&["agents"]).ok().out;
    assert!(!agents.contains("pal"), "nothing was made there: {agents}");
}

// covers: OPS-160, OPS-164
#[test]
fn workspaces_beside_the_hosts_own_are_made_used_and_shut() {
    let host = Host::with_room(&[]);
    let made = host.run(&["workspace", "create", "acme"]).ok().out;
    assert!(made.contains("made the workspace acme") && made.contains("/w/acme/signin/"), "{made}");
    let data = host.data().join("workspaces/acme");
    let home = tempfile::tempdir().unwrap();
    let inside = |arguments: &[&str]| {
        let data = data.to_str().unwrap();
        at(home.path(), home.path(), &[&["--data", data], arguments].concat())
    };
    inside(&["channel", "create", "general"]).ok();
    inside(&["post", "#general", "only here"]).ok();
    assert!(inside(&["tail", "#general", "--follow", "false"]).ok().out.contains("only here"));
    assert_eq!(host.run(&["tail", "#general", "--follow", "false"]).code, 1);
    let refused = inside(&["workspace", "list"]);
    assert!(refused.err.contains("the host's own"), "{}", refused.err);
    let listed = host.run(&["workspace", "ls"]).ok().out;
    assert!(listed.contains("acme") && listed.contains("in use"), "{listed}");
    // Its operator's link works for a command elsewhere too.
    let link =
        host.json(&["workspace", "signin", "acme"])["sign_in_url"].as_str().unwrap().to_owned();
    at(home.path(), home.path(), &["login", &link, "--as", "acme"]).ok();
    at(home.path(), home.path(), &["post", "#general", "from elsewhere"]).ok();

    assert!(host.run(&["workspace", "suspend", "acme"]).ok().out.contains("acme is suspended"));
    let refused = inside(&["post", "#general", "not now"]);
    assert!(refused.err.contains("chorus workspace resume acme"), "{}", refused.err);
    let gone = host.run(&["workspace", "delete", "acme"]).ok().out;
    assert!(gone.contains("until then: chorus workspace resume acme"), "{gone}");
    host.run(&["workspace", "resume", "acme"]).ok();
    let said = inside(&["tail", "#general", "--follow", "false"]).ok().out;
    assert!(said.contains("from elsewhere") && !said.contains("not now"), "{said}");
    let taken = host.run(&["workspace", "create", "acrne"]);
    assert!(taken.err.contains("choose another name"), "{}", taken.err);
}

// covers: OPS-173
#[test]
fn a_workspace_is_moved_to_another_host_and_its_quota_is_said() {
    let (from, to) = (Host::with_room(&[]), Host::with_room(&[]));
    from.run(&["workspace", "create", "acme"]).ok();
    let data = from.data().join("workspaces/acme");
    let home = tempfile::tempdir().unwrap();
    let inside = |arguments: &[&str]| {
        let data = data.to_str().unwrap();
        at(home.path(), home.path(), &[&["--data", data], arguments].concat())
    };
    inside(&["channel", "create", "general"]).ok();
    inside(&["post", "#general", "only here"]).ok();
    let issue = ["token", "issue", "--agent", "scout", "--role", "worker", "--json"];
    let issued: serde_json::Value = serde_json::from_str(&inside(&issue).ok().out).unwrap();
    let token = issued["token"].as_str().unwrap().to_owned();
    inside(&["channel", "add", "general", "scout"]).ok();

    let quota =
        |more: &[&str]| from.run(&[&["workspace", "quota", "acme"], more].concat()).ok().out;
    assert!(quota(&[]).contains("as the settings say"));
    let said = quota(&["--connections", "50", "--storage-mib", "100"]);
    assert!(said.contains("50") && said.contains("100"), "{said}");
    let said = quota(&["--connections", "default"]);
    assert!(!said.contains("50") && said.contains("100"), "{said}");
    let refused = from.run(&["workspace", "quota", "nope"]);
    assert!(refused.err.contains("chorus workspace list"), "{}", refused.err);

    let other = to.url();
    let refused = from.run(&["workspace", "move", "acme", "--to", &other]);
    assert!(refused.err.contains("--to-token"), "{}", refused.err);
    let operator = fs::read_to_string(to.data().join("operator.token")).unwrap();
    let operator = operator.trim();
    let moving = |name: &str, token: &str| {
        from.run(&["workspace", "move", name, "--to", &other, "--to-token", token])
    };
    let refused = moving("acme", &token);
    assert_eq!(refused.code, 1);
    // Nobody was kept out for that.
    inside(&["post", "#general", "still here"]).ok();
    assert!(moving("nope", operator).err.contains("no workspace"));
    from.run(&["workspace", "create", "globex"]).ok();
    from.run(&["workspace", "delete", "globex"]).ok();
    assert!(moving("globex", operator).err.contains("chorus workspace resume globex"));
    let moved = moving("acme", operator).ok().out;
    assert!(moved.contains(&format!("{other}/w/acme")) && moved.contains("good there"), "{moved}");
    let address = format!("{other}/w/acme");
    let there = ["--url", &address, "--token", &token, "tail", "#general", "--follow", "false"];
    let said = at(home.path(), home.path(), &there).ok().out;
    assert!(said.contains("only here") && said.contains("still here"), "{said}");
    let here = inside(&["tail", "#general", "--follow", "false"]);
    assert!(here.err.contains(&address), "{}", here.err);
    let listed = from.run(&["workspace", "list"]).ok().out;
    assert!(listed.contains("moved to"), "{listed}");
    // The same once more finds it done.
    assert!(moving("acme", operator).ok().out.contains(&address));
}
