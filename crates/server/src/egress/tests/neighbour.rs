//! A neighbour: a socket on loopback that does as it is told, once a connection.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::egress::{Allowed, Answer, Egress};

pub(super) const BODY: &[u8] = br#"{"message":{"content":"hello"}}"#;
/// Long enough for anybody who answers.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Neighbour {
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Neighbour {
    /// `act` is what becomes of each connection.
    pub(super) async fn at<F, A>(ip: &str, port: u16, act: F) -> Self
    where
        F: Fn(TcpStream) -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let ip: IpAddr = ip.parse().unwrap();
        let listener = TcpListener::bind((ip, port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(act(stream));
            }
        });
        Self { port, connections }
    }

    pub(super) async fn new<F, A>(act: F) -> Self
    where
        F: Fn(TcpStream) -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        Self::at("127.0.0.1", 0, act).await
    }

    /// Reads each request, writes this, and closes.
    pub(super) async fn says(answer: impl Into<String>) -> Self {
        let answer: String = answer.into();
        Self::new(move |mut stream| {
            let answer = answer.clone();
            async move {
                request(&mut stream).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    pub(super) fn url(&self) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}/inbox/s3cret", self.port)).unwrap()
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// What comes of a POST to it.
    pub(super) async fn answer(&self, timeout: Duration) -> Answer {
        post(&egress(), &self.url(), timeout).await
    }
}

/// A host that listens on loopback.
pub(super) fn egress() -> Egress {
    Egress::new(Allowed { loopback: true, networks: Vec::new() }, &[]).unwrap()
}

/// A POST, which ends in its time.
pub(super) async fn post(egress: &Egress, url: &Url, timeout: Duration) -> Answer {
    let began = Instant::now();
    let answer =
        egress.post(url, Bytes::from_static(BODY), [].into_iter().collect(), timeout).await;
    let took = began.elapsed();
    // What it takes to read the rest of an answer, and a machine that has other work.
    assert!(took < timeout + Duration::from_secs(3), "{took:?}");
    answer
}

/// One request to its end: the head, and the body.
pub(super) async fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut read = Vec::new();
    loop {
        let end = read.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(read[..end].to_vec()).unwrap().to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().parse().unwrap();
            let body = &read[end + 4..];
            if body.len() >= length {
                return (head, body.to_vec());
            }
        }
        if stream.read_buf(&mut read).await.unwrap_or_default() == 0 {
            return (String::new(), Vec::new());
        }
    }
}
