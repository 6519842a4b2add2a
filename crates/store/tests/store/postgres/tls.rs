//! A server with certificates: what `sslmode` asks of them, on a real connection.

use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use chorus_cluster::{Cluster, Durability};
use chorus_store::open;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::options;

/// Writes an authority `NAME.pem`, and gives it.
fn authority(folder: &Path, name: &str) -> Issuer<'static, KeyPair> {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let cert = params.self_signed(&key).unwrap();
    std::fs::write(folder.join(name).with_extension("pem"), cert.pem()).unwrap();
    Issuer::new(params, key)
}

/// Two addresses of this machine that no other test process has.
fn addresses() -> [Ipv4Addr; 2] {
    let [_, a, b, c] = std::process::id().to_be_bytes();
    [64, 65].map(|net| Ipv4Addr::new(127, net + 2 * (a & 15), b, c))
}

#[test]
fn a_certificate_is_asked_for_as_much_as_sslmode_says() {
    let ours = tempfile::tempdir().unwrap();
    let [named, unnamed] = addresses();
    let hba = tempfile::NamedTempFile::new().unwrap();
    let lines = "local all all trust\nhost all chorus all trust\nhostssl all strict all trust\n";
    std::fs::write(hba.path(), lines).unwrap();
    std::fs::set_permissions(hba.path(), PermissionsExt::from_mode(0o644)).unwrap();
    let [listens, hba] = [
        format!("listen_addresses={named},{unnamed}"),
        format!("hba_file={}", hba.path().display()),
    ];
    let cluster = Cluster::start(Durability::Quick, &["-c", &listens, "-c", &hba]).unwrap();
    cluster.sql("postgres", "CREATE ROLE strict LOGIN SUPERUSER").unwrap();

    // As it comes it has no certificate.
    let refusal = |url: &str| refusal(&cluster, url);
    let plain = |mode: &str| refusal(&format!("postgres://chorus@{named}/postgres?sslmode={mode}"));
    assert_eq!(plain("disable"), None);
    assert_eq!(plain("prefer"), None);
    let why = plain("require").unwrap();
    assert!(why.contains("server does not support TLS"), "{why}");

    let issuer = authority(ours.path(), "right");
    authority(ours.path(), "wrong");
    let own = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(vec![named.to_string()]).unwrap();
    let cert = cert.signed_by(&own, &issuer).unwrap();
    let theirs = cluster.socket();
    let of = std::fs::metadata(theirs).unwrap();
    for (name, text) in [("server.crt", cert.pem()), ("server.key", own.serialize_pem())] {
        let file = theirs.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        chown(&file, Some(of.uid()), Some(of.gid())).unwrap();
        let set = name.replace("server.crt", "ssl_cert_file").replace("server.key", "ssl_key_file");
        cluster.sql("postgres", &format!("ALTER SYSTEM SET {set} = '{}'", file.display())).unwrap();
    }
    cluster.sql("postgres", "ALTER SYSTEM SET ssl = on").unwrap();
    cluster.sql("postgres", "SELECT pg_reload_conf()").unwrap();
    while cluster.sql("postgres", "SHOW ssl").unwrap() != "on" {}

    let root = |name: &str| {
        let file = ours.path().join(name).with_extension("pem");
        format!("&sslrootcert={}", file.display().to_string().replace('/', "%2F"))
    };
    let [right, wrong] = ["right", "wrong"].map(root);
    for (user, host, mode, root, expected) in [
        ("chorus", named, "verify-full", &right, None),
        ("strict", named, "verify-full", &right, None),
        ("chorus", named, "verify-full", &wrong, Some("invalid peer certificate")),
        ("chorus", unnamed, "verify-full", &right, Some("not valid for name")),
        ("chorus", unnamed, "verify-ca", &right, None),
        ("chorus", unnamed, "verify-ca", &wrong, Some("invalid peer certificate")),
        ("chorus", named, "require", &wrong, Some("invalid peer certificate")),
        ("strict", unnamed, "require", &String::new(), None),
        ("strict", unnamed, "prefer", &String::new(), None),
        ("strict", named, "disable", &String::new(), Some("no encryption")),
    ] {
        let url = format!("postgres://{user}@{host}/postgres?sslmode={mode}{root}");
        match (refusal(&url), expected) {
            (None, None) => {}
            (Some(why), Some(words)) => assert!(why.contains(words), "{url}: {why}"),
            (found, expected) => panic!("{url}: {found:?}, not {expected:?}"),
        }
    }
    let gone = refusal(&format!(
        "postgres://chorus@{named}/postgres?sslmode=verify-full&sslrootcert=%2Fno.pem"
    ));
    assert!(gone.unwrap().contains("/no.pem"));
}

/// Why a host does not start on this database; when it does, its connection is what was asked for.
fn refusal(cluster: &Cluster, url: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = match open(options(folder.path(), url)) {
        Ok(store) => store,
        Err(error) => return Some(error.to_string()),
    };
    let ssl = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'chorus writer'";
    let encrypted = cluster.sql("postgres", ssl).unwrap();
    assert!(
        encrypted == "t" || url.contains("disable") || url.contains("prefer"),
        "{url}: {encrypted}"
    );
    drop(store);
    None
}
