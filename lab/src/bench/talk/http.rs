//! HTTP/1.1 with keep-alive: requests as bytes, answers as status and length.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::bench::load::{Answer, Talk};

/// Appends one request with a JSON body, or without one when `body` is empty.
pub(crate) fn request(out: &mut Vec<u8>, method: &str, path: &str, token: &str, body: &str) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body.as_bytes());
}

/// Finds one answer in `got`: its status, where its body begins and where it ends.
///
/// `None` while it is not whole. An answer without `content-length` has no body.
pub(crate) fn head_and_body(got: &[u8]) -> Option<(u16, usize, usize)> {
    let head = got.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&got[..head]).unwrap_or_default();
    let status = text.split(' ').nth(1)?.parse().unwrap_or(0);
    let length = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0);
    (got.len() >= head + length).then_some((status, head, head + length))
}

/// One request on a connection of its own; the status and the body.
pub(crate) fn exchange(
    addr: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Result<(u16, Vec<u8>), String> {
    let told = |e: std::io::Error| format!("{method} {path}: {e}");
    let mut stream = TcpStream::connect(addr).map_err(told)?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(told)?;
    let mut out = Vec::new();
    request(&mut out, method, path, token, body);
    stream.write_all(&out).map_err(told)?;
    let (mut got, mut part) = (Vec::new(), [0_u8; 16 * 1024]);
    loop {
        if let Some((status, head, end)) = head_and_body(&got) {
            return Ok((status, got[head..end].to_vec()));
        }
        match stream.read(&mut part).map_err(told)? {
            0 => return Err(format!("{method} {path}: closed before the answer")),
            n => got.extend_from_slice(&part[..n]),
        }
    }
}

/// GETs that a function writes.
pub(crate) struct Get(pub(crate) Ask);

/// Writes the next request.
type Ask = Box<dyn FnMut(&mut Vec<u8>) + Send>;

impl Talk for Get {
    fn ask(&mut self, out: &mut Vec<u8>) {
        (self.0)(out);
    }

    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        answer(got)
    }
}

/// POSTs of bodies that a function makes from the number of the request.
pub(crate) struct Post {
    pub(crate) path: &'static str,
    pub(crate) token: String,
    pub(crate) body: Box<dyn FnMut(u64) -> String + Send>,
    pub(crate) asked: u64,
}

impl Talk for Post {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let body = (self.body)(self.asked);
        self.asked += 1;
        request(out, "POST", self.path, &self.token, &body);
    }

    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        answer(got)
    }
}

/// A list of requests that are sent once each: method, path and body.
pub(crate) struct Once {
    pub(crate) token: String,
    pub(crate) requests: std::vec::IntoIter<(&'static str, String, String)>,
}

impl Talk for Once {
    fn ask(&mut self, out: &mut Vec<u8>) {
        if let Some((method, path, body)) = self.requests.next() {
            request(out, method, &path, &self.token, &body);
        }
    }

    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        answer(got)
    }

    fn finished(&self) -> bool {
        self.requests.len() == 0
    }
}

fn answer(got: &[u8]) -> Result<Answer, String> {
    match head_and_body(got) {
        None => Ok(Answer::More),
        Some((200..300, _, end)) => Ok(Answer::Done(end)),
        Some((status, head, end)) => {
            Err(format!("HTTP {status}: {}", String::from_utf8_lossy(&got[head..end])))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let whole = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1";
        assert_eq!(head_and_body(whole), Some((201, 43, 45)));
        assert_eq!(head_and_body(&whole[..44]), None);
        assert_eq!(head_and_body(&whole[..20]), None);
        assert_eq!(head_and_body(b"HTTP/1.1 204 No Content\r\n\r\n"), Some((204, 27, 27)));
    }
}
