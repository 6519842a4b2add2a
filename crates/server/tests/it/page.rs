//! The page: its files, the session in a browser's cookie with which it asks the API, and signing out.

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::live::Tail;
use crate::test_host::{Answer, START, TestHost};

/// A client that goes where it is sent only when it is asked to.
fn client() -> reqwest::Client {
    reqwest::Client::builder().redirect(Policy::none()).build().unwrap()
}

/// Signs in by a form, as a browser does; the cookie as it is sent back.
pub(crate) async fn sign_in(host: &TestHost, link: &str) -> String {
    sign_in_as(host, link, "").await
}

/// The same with a name, url-encoded.
pub(crate) async fn sign_in_as(_: &TestHost, link: &str, name: &str) -> String {
    let kind = "application/x-www-form-urlencoded";
    let form =
        client().post(link).header("content-type", kind).body(format!("display_name={name}"));
    let answer = form.send().await.unwrap();
    assert_eq!(answer.status(), 303);
    assert_eq!(answer.headers()["location"], "/app/");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

async fn link(host: &TestHost, token: &str) -> String {
    let made = host.post(token, "/v1/sign-in-links", json!({})).await.ok();
    made["url"].as_str().unwrap().to_owned()
}

/// A request as the page makes it.
fn from_page(host: &TestHost, cookie: &str, method: Method, path: &str) -> RequestBuilder {
    let request = host.request(method, path).header("cookie", cookie);
    request.header("x-chorus-page", "1").header("sec-fetch-site", "same-origin")
}

pub(crate) async fn whoami(host: &TestHost, cookie: &str) -> Answer {
    TestHost::answer(from_page(host, cookie, Method::GET, "/v1/whoami")).await
}

// covers: OPS-641a
#[tokio::test]
async fn the_page_asks_with_the_session_of_its_browser() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let cookie = sign_in(&host, &link(&host, &ann).await).await;
    let me = whoami(&host, &cookie).await.ok();
    assert_eq!((&me["member"]["id"], &me["role"]), (&json!("ann"), &json!("worker")));
    let new = json!({"conversation": room, "text": "from the page", "idempotency_key": "p1"});
    let post = from_page(&host, &cookie, Method::POST, "/v1/messages").json(&new);
    assert_eq!(TestHost::answer(post).await.status, 201);
    assert_eq!(TestHost::answer(from_page(&host, &cookie, Method::GET, "/jobs")).await.status, 200);
    // An old browser does not say where a request comes from.
    let old = host.request(Method::GET, "/v1/whoami").header("cookie", &cookie);
    assert_eq!(TestHost::answer(old.header("x-chorus-page", "1")).await.status, 200);
    // A token that is brought counts, and not the cookie beside it.
    let both = from_page(&host, &cookie, Method::GET, "/v1/whoami").bearer_auth(host.operator());
    assert_eq!(TestHost::answer(both).await.ok()["role"], "operator");
}

// covers: OPS-641b, OPS-641c
#[tokio::test]
async fn another_sites_page_and_a_door_of_agents_do_not_take_the_cookie() {
    let host = TestHost::open().await;
    let cookie = sign_in(&host, &host.running.operator_link).await;
    let ask = |headers: &[(&str, &str)], method: Method, path: &str| {
        let mut request = host.request(method, path).header("cookie", &cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        TestHost::answer(request)
    };
    for (headers, says) in [
        (&[][..], "X-Chorus-Page: 1"),
        (&[("x-chorus-page", "yes")], "X-Chorus-Page: 1"),
        (&[("x-chorus-page", "1"), ("sec-fetch-site", "same-site")], "open the page of this host"),
        (&[("x-chorus-page", "1"), ("sec-fetch-site", "cross-site")], "open the page of this host"),
        (&[("x-chorus-page", "1"), ("sec-fetch-site", "none")], "open the page of this host"),
    ] {
        let refused = ask(headers, Method::GET, "/v1/whoami").await;
        assert!(refused.body["error"]["message"].as_str().unwrap().contains(says), "{refused:?}");
        assert_eq!(refused.refused(401), "UNAUTHORIZED", "{headers:?}");
    }
    let page = [("x-chorus-page", "1"), ("sec-fetch-site", "same-origin")];
    for (method, path) in [
        (Method::POST, "/v1/c2a"),
        (Method::GET, "/v1/c2a"),
        (Method::POST, "/v1/mcp"),
        (Method::GET, "/v1/mcp"),
    ] {
        assert_eq!(ask(&page, method.clone(), path).await.status, 401, "{method} {path}");
    }
    let elsewhere = [page[0], ("origin", "https://evil.example")];
    assert_eq!(ask(&elsewhere, Method::GET, "/v1/whoami").await.refused(403), "FORBIDDEN");
    // The prefix binds the cookie to an HTTPS host: there no other name counts.
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.public_url = Some("https://chorus.example".to_owned());
    })
    .await;
    let near = |path: &str| format!("http://{}{path}", host.running.addr);
    let link = host.running.operator_link.strip_prefix("https://chorus.example").unwrap();
    let cookie = sign_in(&host, &near(link)).await;
    let token = cookie.strip_prefix("__Host-chorus_session=").unwrap();
    let ask = async |name: &str| {
        let request = client().get(near("/v1/whoami")).header("cookie", format!("{name}={token}"));
        request.header("x-chorus-page", "1").send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask("__Host-chorus_session").await, 200);
    assert_eq!(ask("chorus_session").await, 401);
}

// covers: OPS-642a, OPS-642b
#[tokio::test]
async fn signing_out_ends_this_session_or_all_of_them() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let ann = host.token("ann").await;
    let here = sign_in(&host, &link(&host, &ann).await).await;
    let there = sign_in(&host, &link(&host, &ann).await).await;
    let third = sign_in(&host, &link(&host, &ann).await).await;
    let out = async |cookie: &str, query: &str| {
        let path = format!("/v1/sign-out{query}");
        from_page(&host, cookie, Method::POST, &path).send().await.unwrap()
    };
    let answer = out(&here, "").await;
    assert_eq!(answer.status(), 204);
    let cleared = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cleared.starts_with("chorus_session=; Path=/; Max-Age=0; "), "{cleared}");
    assert_eq!(whoami(&host, &here).await.refused(401), "UNAUTHORIZED");
    whoami(&host, &there).await.ok();

    let request = from_page(&host, &there, Method::GET, "/v1/live");
    let mut tail = Tail::of_request(request).await;
    assert_eq!(tail.next().await.unwrap().0, "hello");
    assert_eq!(out(&third, "?everywhere=true").await.status(), 204);
    while tail.next().await.is_some() {}
    for cookie in [&there, &third] {
        assert_eq!(whoami(&host, cookie).await.refused(401), "UNAUTHORIZED");
    }
    assert_eq!(host.get(&ann, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    // A token is ended by another door.
    let token = host.post(&host.operator(), "/v1/sign-out", json!({})).await;
    assert_eq!(token.refused(409), "CONFLICT");
}

fn said<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

// covers: OPS-643a
#[tokio::test]
async fn the_shell_answers_every_path_of_the_page_and_is_asked_for_again() {
    let host = TestHost::open().await;
    let get = async |path: &str, known: &str| {
        let request = client().get(host.url(path)).header("if-none-match", known);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.headers().clone(), answer.text().await.unwrap())
    };
    let (_, first, shell) = get("/app/", "").await;
    assert!(shell.contains("<title>Chorus"), "{shell}");
    for path in ["/app/", "/app/c/ch_1/t/th_2", "/app/agents", "/app/inbox?x=1"] {
        let (status, headers, text) = get(path, "").await;
        assert_eq!((status, &text), (200, &shell), "{path}");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-cache"),
            ("x-content-type-options", "nosniff"),
            ("vary", "accept-encoding"),
        ] {
            assert_eq!(said(&headers, name), value, "{name} of {path}");
        }
        let policy = said(&headers, "content-security-policy");
        assert!(policy.contains("script-src 'self';"), "{policy}");
        assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let (status, again, nothing) = get(path, said(&first, "etag")).await;
        assert_eq!((status, &*nothing), (304, ""), "{path}");
        assert_eq!(said(&again, "etag"), said(&first, "etag"));
        assert_eq!(said(&again, "content-type"), "");
    }
    let head = client().head(host.url("/app/agents")).send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(head.headers()["content-length"], shell.len().to_string());
    let bare = client().get(host.url("/app")).send().await.unwrap();
    assert_eq!(
        (bare.status().as_u16(), &bare.headers()["location"]),
        (308, &"/app/".parse().unwrap())
    );
}

// covers: OPS-643b
#[tokio::test]
async fn a_file_that_is_named_by_its_content_is_kept_for_ever_and_an_unknown_one_is_none() {
    let host = TestHost::open().await;
    let get = |path: &str| client().get(host.url(path)).header("accept-encoding", "gzip, br");
    for path in ["/app/assets/nothing-3f1c9a.js", "/app/assets/", "/app/assets/index.html"] {
        let answer = TestHost::answer(get(path)).await;
        assert_eq!(answer.refused(404), "NOT_FOUND", "{path}");
    }
    let stale = get("/app/assets/nothing.js").send().await.unwrap();
    assert_eq!(said(stale.headers(), "cache-control"), "no-store");
    // Every file that is built; the shell alone where there is no build yet.
    for file in chorus_web::files() {
        let answer = get(&format!("/app/{}", file.path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", file.path);
        let headers = answer.headers();
        assert_eq!(said(headers, "content-type"), file.media_type(), "{}", file.path);
        let keeps = match file.is_immutable() {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        assert_eq!(said(headers, "cache-control"), keeps, "{}", file.path);
        let encoding = match (file.br, file.gzip) {
            (Some(_), _) => "br",
            (None, Some(_)) => "gzip",
            (None, None) => "",
        };
        assert_eq!(said(headers, "content-encoding"), encoding, "{}", file.path);
    }
}

// covers: OPS-643c
#[tokio::test]
async fn the_front_page_leads_whoever_has_signed_in_to_the_page() {
    let host = TestHost::open().await;
    let cookie = sign_in(&host, &host.running.operator_link).await;
    let front = async |cookie: &str| {
        client().get(host.url("/")).header("cookie", cookie).send().await.unwrap()
    };
    let answer = front(&format!("a=b; {cookie}")).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (303, &"/app/".parse().unwrap())
    );
    for other in ["", "chorus_session=nonsense"] {
        let answer = front(other).await;
        assert_eq!(answer.status(), 200);
        let page = answer.text().await.unwrap();
        assert!(page.contains("What runs here") || page.contains("From here"), "{page}");
    }
    // From the page, the terminal of the same person gets in.
    let link = from_page(&host, &cookie, Method::POST, "/v1/sign-in-links");
    let link: Value = TestHost::answer(link).await.ok();
    let link = link["url"].as_str().unwrap().strip_prefix(&host.running.url).unwrap();
    let signed_in = TestHost::answer(host.request(Method::POST, link)).await.ok();
    let me = host.get(signed_in["token"].as_str().unwrap(), "/v1/whoami").await.ok();
    assert_eq!(me["role"], "operator");
}
