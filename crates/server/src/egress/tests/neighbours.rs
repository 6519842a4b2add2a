//! Bad neighbours, as real sockets: each costs bounded time and memory, and is told by its name.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use url::Url;

use super::neighbour::{Neighbour, PATIENCE, egress, post, request};
use crate::egress::{Answer, Why};

/// For those who never answer.
const MOMENT: Duration = Duration::from_millis(300);
/// More than sockets hold on their way.
const MEMORY: usize = 32 * 1024 * 1024;

fn again(why: Why) -> Answer {
    Answer::Again { why, after: None }
}

/// Says `first`, and then `rest` for ever; how much of it went out is counted.
async fn endless(first: &'static str, rest: &'static [u8]) -> (Neighbour, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let neighbour = Neighbour::new(move |mut stream| {
        let counted = counted.clone();
        async move {
            request(&mut stream).await;
            let _ = stream.write_all(first.as_bytes()).await;
            while stream.write_all(rest).await.is_ok() {
                counted.fetch_add(rest.len(), Ordering::SeqCst);
            }
        }
    })
    .await;
    (neighbour, sent)
}

/// Says `first`, and then one byte of `rest` after the other, slowly.
async fn drip(first: &'static str, rest: &'static [u8]) -> Neighbour {
    Neighbour::new(move |mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(first.as_bytes()).await;
        for byte in rest.iter().cycle() {
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}

const LINE: &[u8] =
    b"x: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n";

#[tokio::test]
async fn what_has_no_end_is_not_read_to_its_end() {
    let chunk: &[u8] = b"4000\r\n";
    let chunk = [chunk, [b'x'; 0x4000].as_slice(), b"\r\n"].concat();
    let chunk: &'static [u8] = chunk.leak();
    for (what, first, rest, expected) in [
        ("body until the end", "HTTP/1.1 200 OK\r\n\r\n", LINE, Answer::Taken),
        (
            "body of some length",
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
            LINE,
            Answer::Taken,
        ),
        ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk, Answer::Taken),
        (
            "chunk sizes",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"0000000000000000",
            Answer::Taken,
        ),
        (
            "chunk extensions",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            b"xxxxxxxxxxxxxxxx",
            Answer::Taken,
        ),
        (
            "trailers",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            LINE,
            Answer::Taken,
        ),
        ("body of an error", "HTTP/1.1 500 Oh\r\n\r\n", LINE, again(Why::Status(500))),
        ("headers", "HTTP/1.1 200 OK\r\n", LINE, again(Why::Protocol)),
        ("one header", "HTTP/1.1 200 OK\r\nx: ", b"xxxxxxxxxxxxxxxx", again(Why::Protocol)),
        ("status line", "HTTP/1.1 200 ", b"xxxxxxxxxxxxxxxx", again(Why::Protocol)),
    ] {
        let (neighbour, sent) = endless(first, rest).await;
        assert_eq!(neighbour.answer(PATIENCE).await, expected, "{what}");
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < MEMORY, "{what}: {sent} bytes");
    }
}

#[tokio::test]
async fn interim_answers_without_end_are_no_answer() {
    let (neighbour, _) = endless("", b"HTTP/1.1 100 Continue\r\n\r\n").await;
    let answer = neighbour.answer(MOMENT).await;
    assert_eq!(answer, again(Why::Timeout));
}

#[tokio::test]
async fn who_says_nothing_is_left_in_time() {
    let silent = Neighbour::new(|stream| async move {
        let _open = stream;
        pending().await
    })
    .await;
    assert_eq!(silent.answer(MOMENT).await, again(Why::Timeout));
    // Nor does it help to take nothing of what is posted.
    let body = Bytes::from(vec![b' '; 64 * 1024 * 1024]);
    let began = Instant::now();
    let answer = egress().post(&silent.url(), body, [].into_iter().collect(), MOMENT).await;
    assert_eq!(answer, again(Why::Timeout));
    assert!(began.elapsed() < Duration::from_secs(3));
    for (first, rest) in [
        ("", b"HTTP/1.1 200 OK\r\nx: y\r\n".as_slice()),
        ("HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        ("HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ] {
        let slow = drip(first, rest).await;
        assert_eq!(slow.answer(MOMENT).await, again(Why::Timeout), "{first}");
    }
}

#[tokio::test]
async fn the_status_counts_and_the_body_is_not_waited_for() {
    for (head, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", Answer::Taken),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Answer::Taken),
        ("HTTP/1.1 410 Gone\r\n\r\n", Answer::Gone),
        ("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n", again(Why::Status(503))),
    ] {
        let both = ["slow".as_bytes(), b"0"].map(|rest| async move {
            let neighbour = drip(head, rest).await;
            let began = Instant::now();
            assert_eq!(neighbour.answer(PATIENCE).await, expected, "{head}");
            assert!(began.elapsed() < Duration::from_secs(4), "{head}");
            // What is not read in time is no reason to post a second time.
            assert_eq!(neighbour.answer(2 * MOMENT).await, expected, "{head}");
        });
        join_all(both).await;
    }
}

#[tokio::test]
async fn who_hangs_up_is_tried_again() {
    let reset = Neighbour::new(|mut stream| async move {
        request(&mut stream).await;
        stream.set_zero_linger().unwrap();
    })
    .await;
    assert_eq!(reset.answer(PATIENCE).await, again(Why::Lost));
    assert_eq!(Neighbour::says("").await.answer(PATIENCE).await, again(Why::Lost));
    let cut = Neighbour::says("HTTP/1.1 200 OK\r\nContent-Le").await;
    assert_eq!(cut.answer(PATIENCE).await, again(Why::Lost));
}

#[tokio::test]
async fn a_length_that_is_a_lie_harms_nobody() {
    // Less than it said.
    let less = Neighbour::says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok").await;
    assert_eq!(less.answer(PATIENCE).await, Answer::Taken);
    let chunks =
        Neighbour::says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\nok").await;
    assert_eq!(chunks.answer(PATIENCE).await, Answer::Taken);
    // More than it said: the rest is no answer to what is posted next.
    let more = Neighbour::new(|mut stream| async move {
        while !request(&mut stream).await.0.is_empty() {
            let two = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(two).await;
        }
    })
    .await;
    let egress = egress();
    for _ in 0..20 {
        assert_eq!(post(&egress, &more.url(), PATIENCE).await, Answer::Taken);
    }
    for lengths in [
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "Content-Length: x",
        "Content-Length: 1\r\nContent-Length: 2",
    ] {
        let neighbour = Neighbour::says(format!("HTTP/1.1 200 OK\r\n{lengths}\r\n\r\nok")).await;
        assert_eq!(neighbour.answer(PATIENCE).await, again(Why::Protocol), "{lengths}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_told_as_such() {
    for garbage in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "220 mail.example.com ESMTP\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "{\"ok\":true}",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let neighbour = Neighbour::says(garbage).await;
        assert_eq!(neighbour.answer(PATIENCE).await, again(Why::Protocol), "{garbage:?}");
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let neighbour = Neighbour::new(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let _ = acceptor.accept(stream).await;
        }
    })
    .await;
    let url = |neighbour: &Neighbour| {
        Url::parse(&format!("https://127.0.0.1:{}/", neighbour.port)).unwrap()
    };
    assert_eq!(post(&egress(), &url(&neighbour), PATIENCE).await, again(Why::Tls));
    // And who speaks no TLS at all, or never ends its greeting.
    let plain = Neighbour::new(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        pending().await
    })
    .await;
    assert_eq!(post(&egress(), &url(&plain), PATIENCE).await, again(Why::Tls));
    let silent = Neighbour::new(|stream| async move {
        let _open = stream;
        pending().await
    })
    .await;
    assert_eq!(post(&egress(), &url(&silent), MOMENT).await, again(Why::Timeout));
}
