//! Redis's protocol, as far as calling one script goes.

use crate::bench::load::{Answer, Talk};

/// Calls of one loaded script, with keys and arguments that a function makes for each request.
pub(crate) struct Script {
    pub(crate) sha: String,
    pub(crate) keys: usize,
    pub(crate) arguments: Box<dyn FnMut(u64) -> Vec<String> + Send>,
    pub(crate) asked: u64,
}

impl Talk for Script {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let rest = (self.arguments)(self.asked);
        self.asked += 1;
        out.extend_from_slice(format!("*{}\r\n", rest.len() + 3).as_bytes());
        let keys = self.keys.to_string();
        for part in ["EVALSHA", &self.sha, &keys].into_iter().chain(rest.iter().map(String::as_str))
        {
            out.extend_from_slice(format!("${}\r\n{part}\r\n", part.len()).as_bytes());
        }
    }

    /// The script answers with an integer, which is one line.
    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        let Some(end) = got.windows(2).position(|two| two == b"\r\n") else {
            return Ok(Answer::More);
        };
        match got[0] {
            b':' => Ok(Answer::Done(end + 2)),
            _ => Err(String::from_utf8_lossy(&got[..end]).into_owned()),
        }
    }
}
