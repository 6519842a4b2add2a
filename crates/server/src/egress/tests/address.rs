//! Which URLs are taken, and which addresses refused, however they are written.

use chorus_core::model::error::Code;

use crate::egress::address::URL_BYTES;
use crate::egress::{Allowed, check_url};

fn allowed(loopback: bool, networks: &[&str]) -> Allowed {
    Allowed { loopback, networks: networks.iter().map(|net| net.parse().unwrap()).collect() }
}

/// The code of the refusal, if any.
fn refused(url: &str, allowed: &Allowed) -> Option<Code> {
    let refusal = check_url(url, allowed).err()?;
    assert!(!refusal.message.contains("s3cret"), "{}", refusal.message);
    Some(refusal.code)
}

#[test]
fn addresses_that_are_not_public_are_refused() {
    for host in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.0.1",
        "169.254.169.254",
        "169.254.170.2",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "192.168.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        // The same in other writing.
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "017700000001",
        "0X7F.0.0.1",
        "127.0.0.1.",
        "10.1",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "0",
        "0x0",
        "00",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]",
        // IPv4 within IPv6.
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:a9fe:a9fe]",
        "[::ffff:10.0.0.1]",
        "[0:0:0:0:0:ffff:192.168.0.1]",
        "[::127.0.0.1]",
        "[::8.8.8.8]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::8.8.8.8]",
        "[64:ff9b:1::1]",
        "[64:ff9b:1:ffff::1]",
        "[2002:7f00:1::]",
        "[2002:808:808::1]",
        "[2001::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        // And IPv6 itself.
        "[100::1]",
        "[2001:2::1]",
        "[2001:10::1]",
        "[2001:20::1]",
        "[2001:db8::1]",
        "[2001:1ff:ffff::1]",
        "[3ffe::1]",
        "[3fff::1]",
        "[3fff:fff::1]",
        "[5f00::1]",
        "[4000::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fdff:ffff::1]",
        "[fe80::1]",
        "[febf::1]",
        "[fec0::1]",
        "[feff::1]",
        "[ff02::1]",
        "[ffff::1]",
        // Names that mean this machine.
        "localhost",
        "LOCALHOST",
        "localhost.",
        "agent.localhost",
        "%6cocalhost",
    ] {
        for url in [format!("https://{host}/s3cret"), format!("http://{host}:8080/s3cret?a=b")] {
            let code = refused(&url, &Allowed::default());
            assert_eq!(code, Some(Code::AddressRefused), "{url}");
        }
    }
}

#[test]
fn public_addresses_and_names_are_taken() {
    for (url, normal) in [
        ("https://agent.example.com/inbox/sk_1", "https://agent.example.com/inbox/sk_1"),
        ("  https://agent.example.com/inbox/sk_1\n", "https://agent.example.com/inbox/sk_1"),
        ("http://8.8.8.8:8080/a?b=c", "http://8.8.8.8:8080/a?b=c"),
        ("HTTPS://AGENT.EXAMPLE.COM:443", "https://agent.example.com/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://agent.example.com/ä", "https://agent.example.com/%C3%A4"),
        ("https://134744072/", "https://8.8.8.8/"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ("https://[::ffff:8.8.8.8]/", "https://[::ffff:808:808]/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://9.255.255.255/", "https://9.255.255.255/"),
        ("https://11.0.0.0/", "https://11.0.0.0/"),
        ("https://100.63.255.255/", "https://100.63.255.255/"),
        ("https://100.128.0.0/", "https://100.128.0.0/"),
        ("https://172.15.255.255/", "https://172.15.255.255/"),
        ("https://172.32.0.0/", "https://172.32.0.0/"),
        ("https://192.0.1.0/", "https://192.0.1.0/"),
        ("https://198.20.0.0/", "https://198.20.0.0/"),
        ("https://223.255.255.255/", "https://223.255.255.255/"),
        ("https://[2001:200::1]/", "https://[2001:200::1]/"),
        ("https://[2003::1]/", "https://[2003::1]/"),
        ("https://[3fff:1000::1]/", "https://[3fff:1000::1]/"),
    ] {
        assert_eq!(check_url(url, &Allowed::default()).unwrap().as_str(), normal, "{url}");
    }
}

#[test]
fn what_is_no_url_of_a_web_server_is_refused() {
    let long = format!("https://agent.example.com/{}", "a".repeat(URL_BYTES));
    let longer_in_escapes = format!("https://agent.example.com/{}", "ä".repeat(URL_BYTES / 3));
    assert!(longer_in_escapes.len() <= URL_BYTES);
    for url in [
        "",
        "agent.example.com/s3cret",
        "/inbox/s3cret",
        "https://",
        "https:///",
        "ftp://8.8.8.8/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:,s3cret",
        "gopher://8.8.8.8/",
        "unix:/run/s3cret",
        "ws://agent.example.com/",
        "https://user@agent.example.com/",
        "https://user:s3cret@agent.example.com/",
        "https://:s3cret@agent.example.com/",
        "https://agent.example.com/#s3cret",
        "https://agent.example.com/#",
        "https://agent.example.com:0/",
        "https://agent.example.com:65536/",
        "https://agent.example.com:x/",
        "https://exa mple.com/",
        "https://agent.example.com/a b",
        "https://agent.exa\nmple.com/",
        "https://agent.example.com/\r\nHost:x",
        "https://a\0b/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://256.1.1.1/",
        "https://1.2.3.4.5/",
        "https://0x1ffffffff/",
        "https://a^b/",
        "https://a<b/",
        &long,
        &longer_in_escapes,
    ] {
        assert_eq!(refused(url, &allowed(true, &[])), Some(Code::ValidationError), "{url:?}");
    }
}

#[test]
fn loopback_is_allowed_where_the_url_says_so_itself() {
    let loopback = allowed(true, &[]);
    for host in ["127.0.0.1", "127.9.9.9", "[::1]", "localhost", "a.localhost.", "0x7f.1"] {
        assert_eq!(refused(&format!("http://{host}:7601/"), &loopback), None, "{host}");
    }
    assert_eq!(refused("http://[::ffff:127.0.0.1]/", &loopback), None);
    for host in ["0.0.0.0", "[::]", "10.0.0.1", "169.254.169.254", "[64:ff9b::7f00:1]"] {
        let code = refused(&format!("http://{host}/"), &loopback);
        assert_eq!(code, Some(Code::AddressRefused), "{host}");
    }
}

#[test]
fn what_the_operator_names_is_allowed_and_nothing_beside_it() {
    let some = allowed(false, &["10.1.0.0/16", "fd12::/16", "64:ff9b::/96", "127.0.0.2/32"]);
    for host in ["10.1.0.0", "10.1.255.255", "[fd12::1]", "[::ffff:10.1.2.3]", "127.0.0.2"] {
        assert_eq!(refused(&format!("https://{host}/"), &some), None, "{host}");
    }
    assert_eq!(refused("https://[64:ff9b::808:808]/", &some), None);
    for host in ["10.0.255.255", "10.2.0.0", "[fd13::1]", "[::10.1.2.3]", "127.0.0.1", "localhost"]
    {
        let code = refused(&format!("https://{host}/"), &some);
        assert_eq!(code, Some(Code::AddressRefused), "{host}");
    }
    assert_eq!(refused("https://localhost/", &allowed(false, &["127.0.0.0/8"])), None);
}
