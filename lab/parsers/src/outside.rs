//! What only the host reads: connection strings, pictures, exports, tokens, secrets in texts.

use std::io::Cursor;
use std::sync::LazyLock;

use chorus_server::parsers::{self, Kind, Tokens};
use chorus_server::redact::Redactor;
use image::{ImageFormat, ImageReader};
use url::{Host, Url};

/// A connection string that is taken has one form, no password, and no address of a private network.
pub fn connection(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(taken) = parsers::connection_string(text) else { return };
    assert!(taken.len() <= 2_048);
    let again = parsers::connection_string(&taken);
    assert_eq!(again.as_deref(), Ok(&*taken), "its normal form has another one");
    let Ok(url) = Url::parse(&taken) else { panic!("{taken} is no URL") };
    assert!(matches!(url.scheme(), "http" | "https"));
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
    match url.host() {
        Some(Host::Ipv4(ip)) => {
            let inside = ip.is_private() || ip.is_loopback() || ip.is_link_local();
            assert!(!inside && !ip.is_unspecified() && !ip.is_multicast(), "{ip}");
        }
        Some(Host::Ipv6(ip)) => {
            let inside = ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local();
            assert!(!inside && !ip.is_unspecified() && !ip.is_multicast(), "{ip}");
            assert!(ip.to_ipv4_mapped().is_none_or(|ip| !ip.is_private() && !ip.is_loopback()));
        }
        Some(Host::Domain(name)) => {
            assert!(!name.eq_ignore_ascii_case("localhost") && !name.ends_with(".localhost"));
        }
        None => panic!("{taken} has no host"),
    }
}

/// Longest side of a thumbnail.
const SIDE: u32 = 320;

/// A picture has a small JPEG or none. Memory is bounded by the fuzzer's own limit.
pub fn picture(data: &[u8]) {
    let Some((_, Some(small))) = parsers::picture(data) else { return };
    let reader = ImageReader::with_format(Cursor::new(&small), ImageFormat::Jpeg);
    let Ok((width, height)) = reader.into_dimensions() else { panic!("the thumbnail is no JPEG") };
    assert!((1..=SIDE).contains(&width) && (1..=SIDE).contains(&height), "{width} x {height}");
    // Even noise is no larger than its pixels.
    assert!(small.len() <= (SIDE * SIDE * 3) as usize);
}

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| match Redactor::new(&[], &[]) {
    Ok(redactor) => redactor,
    Err(why) => panic!("the patterns cannot be used: {why}"),
});

/// A text without its secrets has none left, and a text without any is not changed.
pub fn redact(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((clean, found)) = REDACTOR.text(text) else {
        assert_eq!(REDACTOR.clean(text), text);
        return;
    };
    assert!(found > 0 && clean != text);
    assert_eq!(REDACTOR.text(&clean), None, "something was left: {clean}");
}

/// The lines of an export: what was read and written again reads the same.
pub fn import(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        let Ok(again) = parsers::import_line(line) else { continue };
        assert_eq!(parsers::import_line(&again).as_ref(), Ok(&again));
    }
}

static TOKENS: LazyLock<Tokens> = LazyLock::new(|| match Tokens::new() {
    Ok(tokens) => tokens,
    Err(why) => panic!("no keys could be made: {why}"),
});

/// Nobody makes a token. The first byte chooses the kind of a good one, the second how it is spoilt with the rest, which is
/// also tried as a token itself.
pub fn token(data: &[u8]) {
    let [kind, how, rest @ ..] = data else { return };
    let kind = Kind::ALL[usize::from(*kind) % Kind::ALL.len()];
    let Ok(good) = TOKENS.make(kind, 1) else { panic!("no token could be made") };
    assert_eq!(TOKENS.whose(&good).as_deref(), Some(TOKENS.agent()), "{kind:?}");
    let forged = std::str::from_utf8(rest).unwrap_or_default();
    for bad in [Some(forged.to_owned()), spoilt(&good, *how, rest)].into_iter().flatten() {
        assert!(bad == good || TOKENS.whose(&bad).is_none(), "{kind:?} {bad} is taken");
    }
}

fn spoilt(good: &str, how: u8, rest: &[u8]) -> Option<String> {
    let mut bytes = good.as_bytes().to_vec();
    let (place, with) = rest.split_at_checked(2)?;
    let at = usize::from(u16::from_be_bytes(place.try_into().ok()?)) % bytes.len();
    match how % 5 {
        0 => bytes[at] ^= with.first()?,
        1 => bytes.truncate(at),
        2 => bytes.splice(at..at, with.iter().copied()).for_each(drop),
        3 => bytes.iter_mut().zip(with).for_each(|(byte, with)| *byte ^= with),
        // One of the parts between dots is another.
        _ => {
            let mut parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'.').collect();
            let part = at % parts.len();
            parts[part] = with;
            bytes = parts.join(&b'.');
        }
    }
    String::from_utf8(bytes).ok()
}
