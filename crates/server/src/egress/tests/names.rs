//! Names: what they resolve to is checked at each connection.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::io::AsyncWriteExt;
use url::Url;

use super::neighbour::{Neighbour, PATIENCE, post, request};
use crate::egress::{Allowed, Answer, Egress, Why};

/// A resolver that gives one answer after the other, and then none.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<VecDeque<Vec<IpAddr>>>>);

impl Script {
    fn of(answers: &[&[&str]]) -> Self {
        let answer = |ips: &&[&str]| ips.iter().map(|ip| ip.parse().unwrap()).collect();
        Self(Arc::new(Mutex::new(answers.iter().map(answer).collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Resolve for Script {
    fn resolve(&self, _: Name) -> Resolving {
        let next = self.0.lock().unwrap().pop_front();
        Box::pin(async move {
            let ips = next.ok_or_else(|| io::Error::other("SERVFAIL"))?;
            Ok(Box::new(ips.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

/// A name server that never answers.
struct Silent;

impl Resolve for Silent {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(std::future::pending())
    }
}

/// To this host 127.0.0.1 is an address like any public one, and 127.0.0.2 is not.
fn egress(resolver: impl Resolve + 'static) -> Egress {
    let networks = vec!["127.0.0.1/32".parse().unwrap(), "::1/128".parse().unwrap()];
    Egress::with(Allowed { loopback: false, networks }, &[], Arc::new(resolver)).unwrap()
}

fn url(port: u16) -> Url {
    Url::parse(&format!("http://agent.example.com:{port}/inbox/s3cret")).unwrap()
}

/// Two neighbours on one port, of which the host may talk to the first.
async fn both() -> (Neighbour, Neighbour) {
    let answer = |mut stream| async move {
        request(&mut stream).await;
        let closing = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(closing).await;
    };
    let public = Neighbour::new(answer).await;
    let private = Neighbour::at("127.0.0.2", public.port, answer).await;
    (public, private)
}

#[tokio::test]
async fn a_name_that_is_another_address_the_second_time_gets_nowhere() {
    let (public, private) = both().await;
    let script = Script::of(&[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"]]);
    let egress = egress(script.clone());
    assert_eq!(post(&egress, &url(public.port), PATIENCE).await, Answer::Taken);
    assert_eq!(post(&egress, &url(public.port), PATIENCE).await, Answer::Address);
    assert_eq!(post(&egress, &url(public.port), PATIENCE).await, Answer::Taken);
    assert_eq!((public.connections(), private.connections(), script.left()), (2, 0, 0));
}

#[tokio::test]
async fn of_several_addresses_only_those_that_are_fit_are_connected_to() {
    let (public, private) = both().await;
    let answers: [&[&str]; 3] = [
        &["127.0.0.2", "127.0.0.1"],
        &["127.0.0.1", "127.0.0.2"],
        &["10.0.0.1", "::ffff:127.0.0.2", "169.254.169.254", "::ffff:127.0.0.1"],
    ];
    let taken = egress(Script::of(&answers));
    for _ in answers {
        assert_eq!(post(&taken, &url(public.port), PATIENCE).await, Answer::Taken);
    }
    // Nor when the fit one is not there.
    let only_private = Neighbour::at("127.0.0.2", 0, |_| async {}).await;
    let lost = egress(Script::of(&[&["127.0.0.1", "127.0.0.2"]]));
    let answer = post(&lost, &url(only_private.port), PATIENCE).await;
    assert_eq!(answer, Answer::Again { why: Why::Connect, after: None });
    assert_eq!((public.connections(), private.connections()), (3, 0));
    assert_eq!(only_private.connections(), 0);
}

#[tokio::test]
async fn a_name_of_refused_addresses_is_told_as_such() {
    let all: [&[&str]; 5] = [
        &["10.0.0.1"],
        &["169.254.169.254", "fd00:ec2::254"],
        &["::ffff:127.0.0.2"],
        &["64:ff9b::808:808"],
        &["127.0.0.2", "0.0.0.0", "::"],
    ];
    let egress = egress(Script::of(&all));
    for _ in all {
        assert_eq!(post(&egress, &url(1), PATIENCE).await, Answer::Address);
    }
}

#[tokio::test]
async fn a_name_that_only_resolves_to_loopback_is_not_what_was_typed() {
    let (public, _private) = both().await;
    let script = Script::of(&[&["127.0.0.1"], &["127.0.0.1"]]);
    let allowed = Allowed { loopback: true, networks: Vec::new() };
    let egress = Egress::with(allowed, &[], Arc::new(script)).unwrap();
    assert_eq!(post(&egress, &url(public.port), PATIENCE).await, Answer::Address);
    let typed = Url::parse(&format!("http://localhost:{}/", public.port)).unwrap();
    assert_eq!(post(&egress, &typed, PATIENCE).await, Answer::Taken);
    assert_eq!(public.connections(), 1);
}

#[tokio::test]
async fn the_systems_resolver_is_checked_as_well() {
    let (public, _private) = both().await;
    let typed = Url::parse(&format!("http://localhost:{}/", public.port)).unwrap();
    let loopback = Egress::new(Allowed { loopback: true, networks: Vec::new() }, &[]).unwrap();
    assert_eq!(post(&loopback, &typed, PATIENCE).await, Answer::Taken);
    // `.invalid` is nobody's (RFC 6761).
    let nobody = Url::parse("http://agent.invalid/").unwrap();
    let answer = post(&loopback, &nobody, PATIENCE).await;
    assert_eq!(answer, Answer::Again { why: Why::Name, after: None });
}

#[tokio::test]
async fn an_address_in_the_url_is_judged_at_each_post() {
    let (public, private) = both().await;
    let egress = egress(Script::default());
    let literal = |ip: &str| Url::parse(&format!("http://{ip}:{}/", public.port)).unwrap();
    assert_eq!(post(&egress, &literal("127.0.0.1"), PATIENCE).await, Answer::Taken);
    assert_eq!(post(&egress, &literal("[::ffff:127.0.0.1]"), PATIENCE).await, Answer::Taken);
    for ip in ["127.0.0.2", "2130706434", "0x7f.2", "[::ffff:127.0.0.2]", "[::127.0.0.2]"] {
        assert_eq!(post(&egress, &literal(ip), PATIENCE).await, Answer::Address, "{ip}");
    }
    assert_eq!(private.connections(), 0);
}

#[tokio::test]
async fn a_name_server_that_fails_or_is_silent_is_tried_again() {
    let answer = |why| Answer::Again { why, after: None };
    let failing = egress(Script::of(&[&[]]));
    // No address at all, and then no answer.
    for _ in 0..2 {
        assert_eq!(post(&failing, &url(1), PATIENCE).await, answer(Why::Name));
    }
    let silent = egress(Silent);
    let moment = Duration::from_millis(200);
    assert_eq!(post(&silent, &url(1), moment).await, answer(Why::Timeout));
}
