//! Agents whose certificates are of an authority that no machine knows.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::serve::Listener;
use chorus_server::{Config, Host};
use chorus_testing::eventually;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use super::{Remote, at_once, reached};
use crate::test_host::{START, TestHost};

/// An authority, and the file of its certificate.
struct Ca {
    issuer: Issuer<'static, KeyPair>,
    pem: PathBuf,
}

impl Ca {
    fn new(folder: &Path) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = folder.join("ca.pem");
        std::fs::write(&pem, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// An agent with a certificate for this name.
    async fn remote(&self, name: &str) -> Remote {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = tcp.local_addr().unwrap();
        let shaken = Shaken { tcp, acceptor: TlsAcceptor::from(Arc::new(config)) };
        Remote::on(shaken, format!("https://{addr}"))
    }
}

/// Connections whose hands were shaken.
struct Shaken {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Shaken {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, addr) = self.tcp.accept().await.unwrap();
            // Whom the other side does not trust is left.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, addr);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

async fn trusting(roots: Option<PathBuf>) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        at_once(config);
        config.settings.webhook.roots = roots;
    })
    .await
}

/// The endpoint, once it is so.
async fn until(host: &TestHost, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually("the endpoint is so", async || {
        let shown = host.get(&host.operator(), "/v1/endpoints/weather").await.ok();
        if is_so(&shown) { Ok(shown) } else { Err(shown) }
    })
    .await
}

// covers: WHK-38
#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_where_its_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path());
    let host = trusting(Some(ca.pem.clone())).await;
    let mut remote = ca.remote("127.0.0.1").await;
    let room = reached(&host, &remote).await;
    host.say(&host.token("ann").await, &room, "@weather rain?").await;
    assert_eq!(remote.take().await["message"]["content"], "@weather rain?");
    let shown = until(&host, |shown| shown["last_taken_at"].is_string()).await;
    assert_eq!((&shown["failures"], &shown["last_error"]), (&json!(0), &Value::Null));
}

// covers: WHK-38
#[tokio::test]
async fn endpoint_with_an_untrusted_certificate_is_sent_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path());
    for (roots, name) in [(None, "127.0.0.1"), (Some(ca.pem.clone()), "agent.example.com")] {
        let host = trusting(roots).await;
        let mut remote = ca.remote(name).await;
        let room = reached(&host, &remote).await;
        host.say(&host.token("ann").await, &room, "@weather rain?").await;
        let why = "no TLS that can be trusted";
        let shown = until(&host, |shown| shown["last_error"]["why"] == why).await;
        assert_eq!((&shown["failures"], &shown["state"]), (&json!(1), &json!("active")), "{name}");
        remote.nothing().await;
    }
}

// covers: WHK-38
#[tokio::test]
async fn a_file_that_cannot_be_used_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path());
    let good = std::fs::read_to_string(&ca.pem).unwrap();
    let key = KeyPair::generate().unwrap().serialize_pem();
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let cut = good.split("-----END").next().unwrap();
    for (text, expected) in [
        (None, "No such file"),
        (Some(""), "holds no certificate"),
        (Some("-----BEGIN"), "holds no certificate"),
        (Some(key.as_str()), "holds no certificate"),
        (Some(cut), "is no PEM"),
        (Some(nonsense), "certificate 1 is none that can be trusted"),
        (Some(&format!("{good}{nonsense}")), "certificate 2 is none that can be trusted"),
    ] {
        let roots = folder.path().join("roots.pem");
        if let Some(text) = text {
            std::fs::write(&roots, text).unwrap();
        }
        let data = folder.path().join("data");
        let mut config =
            Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::on(data.clone()) };
        config.settings.webhook.roots = Some(roots.clone());
        let why = Host::start(config).await.err().unwrap().to_string();
        assert!(why.starts_with(&format!("webhook.roots: {}: ", roots.display())), "{why}");
        assert!(why.contains(expected), "{text:?}: {why}");
        assert!(!data.exists(), "nothing was made");
    }
}
