//! Operations and pages.

use reqwest::Method;
use serde_json::json;

use crate::page;
use crate::test_host::{START, TestHost};

#[tokio::test]
async fn operations_answer_without_a_token_and_tell_no_secret() {
    let host = TestHost::open().await;
    let get = async |path: &str| TestHost::answer(host.request(Method::GET, path)).await;
    assert_eq!(get("/healthz").await.status, 200);
    assert_eq!(get("/readyz").await.status, 200);
    let metrics = get("/metrics").await.body.as_str().unwrap().to_owned();
    for name in ["chorus_posts_total", "chorus_connections", "chorus_command_seconds_bucket"] {
        assert!(metrics.contains(name), "{name} in {metrics}");
    }
    let page = get("/").await;
    let text = page.body.as_str().unwrap();
    assert!(text.contains("Chorus") && text.contains("default"));
    assert!(!text.contains(&host.operator()));
}

// covers: OPS-68
#[tokio::test]
async fn the_page_of_metrics_names_what_there_is_and_nothing_else() {
    let host = TestHost::open().await;
    let metrics = TestHost::answer(host.request(Method::GET, "/metrics")).await;
    let metrics = metrics.body.as_str().unwrap().to_owned();
    let mut given: Vec<(&str, &str)> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    given.sort();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut written: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
            Some((cells.next()?.trim_end_matches('`'), cells.next()?))
        })
        .collect();
    written.sort();
    assert_eq!(given, written, "docs/metrics.md beside /metrics");
}

/// The path of a link of this host.
fn path_of<'a>(host: &TestHost, link: &'a str) -> &'a str {
    link.strip_prefix(&host.running.url).unwrap()
}

// covers: OPS-479
#[tokio::test]
async fn a_look_at_the_sign_in_link_spends_nothing_and_its_button_signs_in_once() {
    let host = TestHost::open().await;
    let path = path_of(&host, &host.running.operator_link);
    for method in [Method::HEAD, Method::GET, Method::GET] {
        let looked = host.request(method, path).send().await.unwrap();
        assert_eq!(looked.status(), 200);
        assert!(
            looked.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("form-action 'self'")
        );
    }
    let form = |path: &str| {
        let kind = "application/x-www-form-urlencoded";
        host.request(Method::POST, path).header("content-type", kind).body("display_name=")
    };
    let cookie = page::sign_in(&host, &host.url(path)).await;
    let token = cookie.strip_prefix("chorus_session=").unwrap();
    // Other servers of this machine are sent the cookie too.
    assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    let again = TestHost::answer(form(path)).await;
    assert_eq!(again.refused(401), "UNAUTHORIZED");
}

// covers: OPS-480
#[tokio::test]
async fn an_invitation_lets_one_person_in_once() {
    let host = TestHost::open().await;
    // Within a second, of which a token does not know the parts.
    host.clock.advance(321);
    let op = host.operator();
    let channel = host.post(&op, "/v1/channels", json!({"title": "general"})).await.ok();
    let asked = json!({"member": "alice", "channels": [channel["id"]]});
    let made = host.post(&op, "/v1/invitations", asked).await.ok();
    let path = path_of(&host, made["url"].as_str().unwrap()).to_owned();
    // It is good over a restart.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START).await;
    let op = host.operator();
    let looked = host.request(Method::GET, &path).send().await.unwrap();
    assert!(looked.text().await.unwrap().contains("as @alice"));
    let accept = || host.request(Method::POST, &path).json(&json!({"display_name": "Alice A."}));
    let (one, two) = tokio::join!(TestHost::answer(accept()), TestHost::answer(accept()));
    let (in_first, refused) = if one.status == 200 { (one, two) } else { (two, one) };
    assert_eq!(refused.refused(401), "UNAUTHORIZED");
    let token = in_first.ok()["token"].as_str().unwrap().to_owned();
    let me = host.get(&token, "/v1/whoami").await.ok();
    assert_eq!(
        (&me["member"]["display_name"], &me["role"]),
        (&"Alice A.".into(), &"worker".into())
    );
    let seen =
        host.get(&token, &format!("/v1/channels/{}", channel["id"].as_str().unwrap())).await.ok();
    assert!(seen["members"].to_string().contains("alice"));

    let agent = host.post(&op, "/v1/members", json!({"id": "bot", "kind": "agent"})).await;
    agent.ok();
    let refused = host.post(&op, "/v1/invitations", json!({"member": "bot"})).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    // One that was revoked lets nobody in.
    let made = host.post(&op, "/v1/invitations", json!({"member": "bob"})).await.ok();
    host.send(&op, Method::DELETE, "/v1/members/bob/tokens", None).await.ok();
    let path = path_of(&host, made["url"].as_str().unwrap()).to_owned();
    assert_eq!(
        TestHost::answer(host.request(Method::GET, &path)).await.refused(401),
        "UNAUTHORIZED"
    );
}

/// What a browser sends that follows a link.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// A page that is shown to a browser: its status and its text. It has styles, and loads nothing.
async fn browse(request: reqwest::RequestBuilder) -> (u16, String) {
    let answer = request.header("accept", BROWSER).send().await.unwrap();
    let headers = answer.headers();
    let said = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert_eq!(said("content-type"), "text/html; charset=utf-8");
    let policy = said("content-security-policy");
    assert!(policy.contains("default-src 'none'; style-src 'unsafe-inline'"), "{policy}");
    (answer.status().as_u16(), answer.text().await.unwrap())
}

// covers: OPS-491
#[tokio::test]
async fn a_browser_is_refused_with_a_page_and_a_program_with_json() {
    let host = TestHost::open().await;
    let used = path_of(&host, &host.running.operator_link);
    TestHost::answer(host.request(Method::POST, used)).await.ok();
    for (method, path, status, sentence) in [
        (Method::GET, used, 401, "this link was used, or its ten minutes are over"),
        (Method::POST, used, 401, "this link was used, or its ten minutes are over"),
        (Method::GET, "/signin/nonsense", 401, "this link was used"),
        (
            Method::GET,
            "/invite/nonsense",
            401,
            "this invitation was accepted, revoked or replaced, or is over",
        ),
        (Method::POST, "/invite/nonsense", 401, "this invitation was accepted"),
        (Method::GET, "/nowhere", 404, "no such path; the API is below /v1"),
        (Method::DELETE, "/", 405, "this path does not take that method"),
    ] {
        let (got, page) = browse(host.request(method.clone(), path)).await;
        assert_eq!(got, status, "{method} {path}");
        assert!(page.starts_with("<!doctype html>") && page.contains(sentence), "{page}");
        assert!(!page.contains("req_") && !page.contains("_ERROR"), "{page}");
        TestHost::answer(host.request(method.clone(), path)).await.refused(status);
        let json = host.request(method, path).header("accept", "application/json");
        TestHost::answer(json).await.refused(status);
    }
    // The guard's too; and what is for programs answers them only.
    let (status, page) =
        browse(host.request(Method::GET, "/").header("host", "evil.example")).await;
    assert!(status == 403 && page.contains("this host does not go by that name"), "{page}");
    let api = host.request(Method::GET, "/v1/whoami").header("accept", BROWSER);
    assert_eq!(TestHost::answer(api).await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-491
#[tokio::test]
async fn a_name_that_is_refused_is_asked_for_again() {
    let host = TestHost::open().await;
    let op = host.operator();
    let made = host.post(&op, "/v1/invitations", json!({"member": "alice"})).await.ok();
    let path = path_of(&host, made["url"].as_str().unwrap()).to_owned();
    let form = |name: &str| {
        let kind = "application/x-www-form-urlencoded";
        let body = format!("display_name={name}");
        host.request(Method::POST, &path).header("content-type", kind).body(body)
    };
    let long = format!("%3Cb%3E{}", "n".repeat(257));
    for (typed, status, shown, why) in [
        (&*long, 400, "&lt;b&gt;nnn", "a display name has at most 256 bytes"),
        ("a%E2%80%8Bb", 400, "a\u{200b}b", "a display name has no letter that nobody sees"),
    ] {
        let answer = form(typed).header("accept", BROWSER).send().await.unwrap();
        assert_eq!(answer.status(), status);
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("form-action 'self'"), "{policy}");
        assert_eq!(answer.headers()["referrer-policy"], "same-origin");
        let page = answer.text().await.unwrap();
        assert!(page.contains(&format!("value=\"{shown}")) && page.contains(why), "{page}");
        assert!(page.contains("maxlength=256"), "{page}");
        TestHost::answer(form(typed)).await.refused(status);
    }
    let cookie = page::sign_in_as(&host, &host.url(&path), "Alice+A.").await;
    assert_eq!(page::whoami(&host, &cookie).await.ok()["member"]["display_name"], "Alice A.");
}

// covers: OPS-492
#[tokio::test]
async fn the_front_page_suggests_what_works_for_who_looks_at_it() {
    let host = TestHost::open().await;
    let page = host.request(Method::GET, "/").send().await.unwrap().text().await.unwrap();
    assert!(!page.contains("chorus join"), "{page}");
    for next in ["docs/install.md", "chorus login ", "chorus chat general", "chorus tail"] {
        assert!(page.contains(next), "{next}: {page}");
    }
}

// covers: OPS-487
#[tokio::test]
async fn a_token_is_no_invitation_and_an_invitation_no_token() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let op = host.operator();
    for token in [host.token("ann").await, op.clone()] {
        let path = format!("/invite/{token}");
        for method in [Method::GET, Method::POST] {
            let answer = TestHost::answer(host.request(method, &path)).await;
            assert_eq!(answer.refused(401), "UNAUTHORIZED");
        }
        host.get(&token, "/v1/whoami").await.ok();
    }
    let made = host.post(&op, "/v1/invitations", json!({"member": "bob"})).await.ok();
    let invitation = made["url"].as_str().unwrap().rsplit('/').next().unwrap();
    let answer = host.get(invitation, "/v1/whoami").await;
    assert_eq!(answer.refused(401), "UNAUTHORIZED");
}

// covers: OPS-480
#[tokio::test]
async fn an_invitation_ends_with_the_next_one_and_gives_nobody_the_name_of_another() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let op = host.operator();
    let mut paths = Vec::new();
    for _ in 0..3 {
        let made = host.post(&op, "/v1/invitations", json!({"member": "fred"})).await.ok();
        paths.push(path_of(&host, made["url"].as_str().unwrap()).to_owned());
        host.clock.advance(1_000);
    }
    let accept = |path: &str, name: &str| {
        TestHost::answer(host.request(Method::POST, path).json(&json!({"display_name": name})))
    };
    assert_eq!(accept(&paths[0], "Fred").await.refused(401), "UNAUTHORIZED");
    for taken in ["Operator", "ann", " ANN "] {
        assert_eq!(accept(&paths[2], taken).await.refused(409), "CONFLICT", "{taken}");
    }
    accept(&paths[2], "Fred").await.ok();
    for path in &paths {
        assert_eq!(accept(path, "Not Fred").await.refused(401), "UNAUTHORIZED");
    }
}

// covers: OPS-487
#[tokio::test]
async fn what_stems_from_a_token_by_a_link_ends_with_it() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let op = host.operator();
    for all in [false, true] {
        let asked = json!({"agent": "ann", "role": "worker"});
        let first = host.post(&op, "/v1/tokens", asked).await.ok();
        let first = (first["token"].as_str().unwrap(), first["jti"].as_str().unwrap());
        let link = async |token: &str| {
            let link = host.post(token, "/v1/sign-in-links", json!({})).await.ok();
            path_of(&host, link["url"].as_str().unwrap()).to_owned()
        };
        let session = async |path: &str| {
            let given = TestHost::answer(host.request(Method::POST, path)).await.ok();
            given["token"].as_str().unwrap().to_owned()
        };
        let second = session(&link(first.0).await).await;
        let third = session(&link(&second).await).await;
        let unused = [link(first.0).await, link(&third).await];
        host.get(&third, "/v1/whoami").await.ok();
        let end = match all {
            true => "/v1/members/ann/tokens".to_owned(),
            false => format!("/v1/tokens/{}", first.1),
        };
        host.send(&op, Method::DELETE, &end, None).await.ok();
        for token in [first.0, &second, &third] {
            assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
        }
        for path in unused {
            for method in [Method::GET, Method::POST] {
                let answer = TestHost::answer(host.request(method, &path)).await;
                assert_eq!(answer.refused(401), "UNAUTHORIZED", "{path}");
            }
        }
        host.clock.advance(1_000);
    }
}

// covers: OPS-487
#[tokio::test]
async fn a_session_ends_no_later_than_the_token_that_asked_for_its_link() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let short = json!({"agent": "ann", "role": "worker", "ttl_s": 300});
    let short = host.post(&host.operator(), "/v1/tokens", short).await.ok();
    let token = short["token"].as_str().unwrap();
    let link = host.post(token, "/v1/sign-in-links", json!({})).await.ok();
    let path = path_of(&host, link["url"].as_str().unwrap()).to_owned();
    let given = TestHost::answer(host.request(Method::POST, &path)).await.ok();
    let ends = |of: &serde_json::Value| of["expires_at"].as_str().unwrap().to_owned();
    assert!(ends(&given) <= ends(&short), "{given} after {short}");
}

#[tokio::test]
async fn the_folder_says_where_the_host_is_while_it_is_there() {
    let host = TestHost::open().await;
    let path = host.folder.path().join("host.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept["url"], host.running.url.as_str());
    let kept = std::fs::read_to_string(host.folder.path().join("operator.token")).unwrap();
    assert_eq!(kept, host.operator());
    host.running.stop().await;
    assert!(!path.exists());
}
