//! Which addresses the host posts to: public ones, and what its operator allows beside them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::Uri;
use chorus_core::model::error::{Code, Refusal};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// Longest URL in bytes: what browsers and proxies take.
pub(crate) const URL_BYTES: usize = 2_048;

/// What the operator allows beyond public addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// This machine, where the URL itself says so: a name that only resolves to it may be anybody's. Only for what an
    /// operator has typed.
    pub loopback: bool,
    pub networks: Vec<IpNet>,
}

/// A network as it is written.
const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

/// All of IPv4 that is not for everybody (IANA's registry of special-purpose addresses), and where clouds answer
/// their own machines: 169.254.169.254 and 100.100.100.200 are in networks of the list, Azure's stands alone.
const REFUSED_V4: [Ipv4Net; 17] = [
    v4(0, 0, 0, 0, 8),          // this network
    v4(10, 0, 0, 0, 8),         // private
    v4(100, 64, 0, 0, 10),      // carrier-grade NAT
    v4(127, 0, 0, 0, 8),        // loopback
    v4(168, 63, 129, 16, 32),   // Azure's wire server
    v4(169, 254, 0, 0, 16),     // link-local
    v4(172, 16, 0, 0, 12),      // private
    v4(192, 0, 0, 0, 24),       // protocol assignments
    v4(192, 0, 2, 0, 24),       // documentation
    v4(192, 88, 99, 0, 24),     // 6to4 relays
    v4(192, 168, 0, 0, 16),     // private
    v4(198, 18, 0, 0, 15),      // benchmarks
    v4(198, 51, 100, 0, 24),    // documentation
    v4(203, 0, 113, 0, 24),     // documentation
    v4(224, 0, 0, 0, 4),        // multicast
    v4(240, 0, 0, 0, 4),        // reserved
    v4(255, 255, 255, 255, 32), // broadcast
];

/// Global unicast, of which the first blocks are given out. All else is refused: loopback, v4-compatible, NAT64
/// (`64:ff9b::/96`, `64:ff9b:1::/48`), discard, unique local with the clouds' `fd00:ec2::254`, link-local, site-local, multicast.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// And what is not for everybody in there.
const REFUSED_V6: [Ipv6Net; 5] = [
    v6(0x2001, 0, 23),     // protocol assignments: Teredo, benchmarks, ORCHID
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4, which carries an IPv4 address
    v6(0x3ffe, 0, 16),     // the 6bone that was
    v6(0x3fff, 0, 20),     // documentation
];

/// For everybody on the internet. A v4-mapped address is the one it carries, since that is whom a connection reaches.
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => !REFUSED_V4.iter().any(|net| net.contains(&ip)),
        IpAddr::V6(ip) => {
            GLOBAL_V6.contains(&ip) && !REFUSED_V6.iter().any(|net| net.contains(&ip))
        }
    }
}

/// A name that means this machine to everybody (RFC 6761).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether a URL is of this machine alone, so that nobody elsewhere can reach what is there.
pub(crate) fn is_local(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).to_canonical().is_loopback(),
        Some(Host::Domain(name)) => is_localhost(name),
        None => false,
    }
}

impl Allowed {
    /// What is left of it for addresses that a stranger names: this machine is not for them, unless its network is
    /// allowed by name.
    pub(crate) fn for_strangers(&self) -> Self {
        Self { loopback: false, ..self.clone() }
    }

    /// Whether an address may be connected to, which a URL has or a name resolved to. `host` is what stands in the URL.
    pub(super) fn permits(&self, ip: IpAddr, host: &Host<&str>) -> bool {
        let ip = ip.to_canonical();
        let typed = match host {
            Host::Domain(name) => is_localhost(name),
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        };
        is_public(ip)
            || self.networks.iter().any(|net| net.contains(&ip))
            || self.loopback && typed && ip.is_loopback()
    }

    /// Whether the host of a URL may be asked for, as far as can be said without a look-up. Addresses are never
    /// looked up, so that this is all the checking they get.
    pub(super) fn permits_host(&self, url: &Url) -> bool {
        match url.host() {
            Some(host @ Host::Ipv4(ip)) => self.permits(ip.into(), &host),
            Some(host @ Host::Ipv6(ip)) => self.permits(ip.into(), &host),
            Some(host @ Host::Domain(name)) if is_localhost(name) => {
                let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
                both.into_iter().any(|ip| self.permits(ip, &host))
            }
            Some(Host::Domain(_)) => true,
            None => false,
        }
    }
}

/// A URL as somebody typed it. What is given back is its one normal form, in which every way of writing an
/// address has become the same; a name is not looked up. The refusal does not repeat the URL: it may be a secret.
pub(crate) fn check_url(url: &str, allowed: &Allowed) -> Result<Url, Refusal> {
    let invalid = |why: &str| Refusal::invalid(format!("the URL {why}"));
    let url = url.trim();
    if url.len() > URL_BYTES {
        return Err(invalid(&format!("is longer than {URL_BYTES} bytes")));
    }
    // The parser would leave some of these out.
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(invalid("has spaces or control characters in it"));
    }
    let url = Url::parse(url).map_err(|e| invalid(&format!("cannot be read: {e}")))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(invalid("must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("must have no user name or password"));
    }
    if url.fragment().is_some() {
        return Err(invalid("must have no fragment: what follows # is never sent"));
    }
    if url.port() == Some(0) {
        return Err(invalid("has port 0, on which nobody listens"));
    }
    // What follows is read by the client, which is stricter; and escapes made it longer.
    if url.as_str().len() > URL_BYTES || url.as_str().parse::<Uri>().is_err() {
        return Err(invalid("cannot be asked for over HTTP"));
    }
    if !allowed.permits_host(&url) {
        let why = "the URL is of an address that is not public; \
                   its network can be allowed in chorus.toml, [webhook] allow";
        return Err(Refusal::new(Code::AddressRefused, why));
    }
    Ok(url)
}
