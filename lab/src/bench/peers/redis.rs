//! Redis with `appendfsync always`: one script per post, which recognises a retry, draws the next sequence
//! number and appends to a stream. Redis commits what is waiting together, as we do.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Server;
use crate::bench::{load, talk};

const SCRIPT: &str = "local known = redis.call('GET', KEYS[1]) if known then return tonumber(known) end \
    local seq = redis.call('INCR', KEYS[2]) redis.call('SET', KEYS[1], seq, 'EX', 86400) \
    redis.call('XADD', KEYS[3], seq .. '-0', 'by', ARGV[1], 'text', ARGV[2], 'told', ARGV[3]) return seq";

/// A running Redis with the script loaded.
pub(crate) struct Redis {
    addr: SocketAddr,
    sha: String,
    run: u64,
    _server: Server,
}

impl Redis {
    /// Starts one, or says why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        let program =
            super::program("redis-server").ok_or("redis-server is not on this machine")?;
        let folder = super::folder("bench-redis")?;
        let port = super::free_port()?;
        let child = Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no"])
            .arg("--dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("redis-server: {e}"))?;
        let server = Server { child, folder };
        let addr = SocketAddr::from(([127, 0, 0, 1], port));
        let sha = load_script(addr)?;
        Ok(Self { addr, sha, run: 0, _server: server })
    }

    /// Posts a second with `clients` connections over 100 streams.
    pub(crate) fn measure(&mut self, window: Duration, clients: usize) -> Result<f64, String> {
        self.run += 1;
        let run = self.run;
        let text = "x".repeat(300);
        let talks = (0..clients)
            .map(|client| {
                let text = text.clone();
                talk::Script {
                    sha: self.sha.clone(),
                    keys: 3,
                    asked: 0,
                    arguments: Box::new(move |n| {
                        let room = (client as u64 + n) % 100;
                        vec![
                            format!("idem:{run}:{client}:{n}"),
                            format!("seq:{room}"),
                            format!("log:{room}"),
                            format!("member-{client}"),
                            text.clone(),
                            "a1:imm a2:imm a3:imm".to_owned(),
                        ]
                    }),
                }
            })
            .collect();
        Ok(load::run(self.addr, window, talks)?.rate)
    }
}

/// Waits until it answers, and loads the script; its hash comes back.
fn load_script(addr: SocketAddr) -> Result<String, String> {
    let started = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(addr) {
            Ok(stream) => break stream,
            Err(why) if started.elapsed() > Duration::from_secs(10) => {
                return Err(format!("redis-server does not answer: {why}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let told = |e: std::io::Error| format!("redis: {e}");
    let command = format!("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n${}\r\n{SCRIPT}\r\n", SCRIPT.len());
    stream.write_all(command.as_bytes()).map_err(told)?;
    let mut lines = BufReader::new(stream).lines();
    let length = lines.next().ok_or("redis: closed")?.map_err(told)?;
    if !length.starts_with('$') {
        return Err(format!("redis: {length}"));
    }
    lines.next().ok_or("redis: closed")?.map_err(told)
}
