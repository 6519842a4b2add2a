//! Operations and pages.

use reqwest::Method;

use crate::test_host::TestHost;

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

#[tokio::test]
async fn the_sign_in_link_shows_the_operators_token_once() {
    let host = TestHost::open().await;
    let link = host.running.operator_link.clone();
    let path = link.strip_prefix(&host.running.url).unwrap();
    let first = TestHost::answer(host.request(Method::GET, path)).await;
    let page = first.body.as_str().unwrap().to_owned();
    let token = page.split("CHORUS_TOKEN=").nth(1).unwrap().split('<').next().unwrap();
    let me = host.get(token, "/v1/whoami").await.ok();
    assert_eq!((&me["member"]["id"], &me["role"]), (&"operator".into(), &"operator".into()));
    let again = TestHost::answer(host.request(Method::GET, path)).await;
    assert_eq!(again.refused(401), "UNAUTHORIZED");
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
