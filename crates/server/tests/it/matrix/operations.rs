//! REST, as the OpenAPI document has it.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::Value;

use super::table::{self, Findings, Row};
use super::world::{World, answer};
use crate::test_host::TestHost;

/// Every row of REST.
pub(super) fn rows() -> Vec<Row> {
    table::read(include_str!("operations.txt"))
}

/// Only SQLite has backups.
fn is_of_another_engine(world: &World, row: &Row) -> bool {
    let postgres = chorus_cluster::under_test(world.host.folder.path()).unwrap().is_some();
    postgres && row.name == "back_up"
}

/// Each operation of the document: method and path by its name.
async fn documented(world: &World) -> BTreeMap<String, String> {
    let document = TestHost::answer(world.host.request(Method::GET, "/v1/openapi.json")).await.ok();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, operation): (&String, &Value)| {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            (id, format!("{} {path}", method.to_uppercase()))
        })
    });
    operations.collect()
}

/// Whether a request is one of the operation: every segment that is no parameter is the same.
fn is_of(asked: &str, operation: &str) -> bool {
    let request = asked.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
    let path = request.split('?').next().unwrap_or_default();
    let (asked, known): (Vec<_>, Vec<_>) =
        (path.split('/').collect(), operation.split('/').collect());
    let same = |(asked, known): (&&str, &&str)| known.starts_with('{') || asked == known;
    asked.len() == known.len() && asked.iter().zip(&known).all(same)
}

// covers: OPS-460
#[tokio::test]
async fn every_operation_answers_each_caller_as_its_row_says() {
    let mut world = World::open().await;
    let (rows, mut findings) = (rows(), Findings::default());
    let operations = documented(&world).await;
    for (id, operation) in &operations {
        if !rows.iter().any(|row| row.name == *id) {
            findings.say(format!("{id} ({operation}) has no row in operations.txt"));
        }
    }
    for row in &rows {
        let known = operations.get(&row.name).is_some_and(|known| is_of(&row.asked, known));
        if !known {
            findings.say(format!("{} (line {}): no such operation", row.name, row.line));
            continue;
        }
        if is_of_another_engine(&world, row) {
            continue;
        }
        let got = world
            .callers(row, async |world: &mut World, bearer: Option<String>, fresh: bool| {
                let asked = world.fill(&row.asked, fresh).await;
                answer(world.request(&asked, bearer.as_deref())).await
            })
            .await;
        findings.compare(row, &got);
    }
    findings.none();
}

#[test]
fn a_request_is_of_its_operation() {
    let operation = "GET /v1/channels/{id}/members/{member}";
    assert!(is_of("GET /v1/channels/$channel/members/crew?a=b {}", operation));
    assert!(!is_of("PUT /v1/channels/$channel/members/crew", operation));
    assert!(!is_of("GET /v1/channels/$channel", operation));
    assert!(!is_of("GET /v1/channels/$channel/seats/crew", operation));
}
