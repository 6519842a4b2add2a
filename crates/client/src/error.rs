//! Why a call failed, in words for people and with the code for programs.

use std::fmt;

use chorus_core::model::error::Code;
use chorus_wire::code;
use chorus_wire::error::ErrorBody;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The host said no. Nothing was changed, unless the code says otherwise.
    Refused {
        /// The HTTP status, or the one that belongs to the code.
        status: u16,
        /// A name of `chorus_wire::code`; a newer host may send one we do not know.
        code: String,
        message: String,
        /// Names the request in the host's log; may be empty.
        request_id: String,
    },
    /// Its certificate is of an authority that is not trusted here.
    Untrusted { url: String },
    /// No answer: nobody listens, the connection broke, or it took too long. Whether anything was done is
    /// unknown.
    Unreachable { url: String, cause: String },
    /// What was given is no address of a host; says what one looks like.
    Address(String),
    /// An answer that is none of ours: another program listens there, or another version.
    Protocol(String),
}

impl Error {
    /// A refusal out of its envelope.
    pub fn refused(status: u16, body: ErrorBody) -> Self {
        let ErrorBody { code, message, request_id } = body;
        Self::Refused { status, code, message, request_id }
    }

    /// A refusal that came without an HTTP status of its own.
    pub fn from_body(body: ErrorBody) -> Self {
        let status = body.known().map_or(500, code::status);
        Self::refused(status, body)
    }

    /// The code of a refusal, when it is one we know.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => code::from_name(code),
            _ => None,
        }
    }

    /// Whether the same call may succeed later. With an idempotency key it is then safe to make it again.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { status, .. } => self.code().map_or(*status >= 500, code::is_retryable),
            Self::Unreachable { .. } | Self::Untrusted { .. } => true,
            Self::Address(_) | Self::Protocol(_) => false,
        }
    }

    pub(crate) fn unreachable(url: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self::Unreachable { url: url.into(), cause: cause.to_string() }
    }

    /// A failed HTTP exchange. Its text alone says little; the cause at its root does.
    pub(crate) fn exchange(url: &str, error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::unreachable(url, "no answer in time");
        }
        let cause = root(error);
        // What rustls says of an answer that is no TLS.
        if cause.contains("InvalidContentType") {
            return Self::Address(format!("{url} does not speak https; that port speaks http"));
        }
        if cause.contains("UnknownIssuer") || cause.contains("CaUsedAsEndEntity") {
            return Self::Untrusted { url: url.to_owned() };
        }
        Self::unreachable(url, cause)
    }
}

fn root(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message, request_id, .. } => {
                write!(f, "{code}: {message}")?;
                if !request_id.is_empty() {
                    write!(f, " ({request_id})")?;
                }
                Ok(())
            }
            Self::Unreachable { url, cause } => {
                write!(f, "no Chorus host answers at {url}: {cause}; is `chorus serve` running?")
            }
            Self::Untrusted { url } => write!(
                f,
                "the certificate of {url} is of no authority that is trusted here; name the file of that \
                 authority's certificate with --ca or CHORUS_CA"
            ),
            Self::Address(what) => f.write_str(what),
            Self::Protocol(what) => write!(f, "the host's answer makes no sense here: {what}"),
        }
    }
}

impl std::error::Error for Error {}
