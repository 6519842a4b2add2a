//! The agents' side: one small HTTP server that takes jobs with 202 and posts their results to
//! where the host says.
//!
//! A challenge is answered with a failure, as by an agent that does not know the skill; every other
//! job succeeds.

use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::bench::talk;

const TAKEN: &[u8] = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";

/// What has come and gone so far.
pub(super) struct Seen {
    host: SocketAddr,
    /// Challenges that the host has the answers of.
    pub(super) verified: AtomicU64,
    /// Jobs that the host has settled.
    pub(super) settled: AtomicU64,
    /// Who waits for the end of which job.
    waiting: Mutex<HashMap<String, Arc<Notify>>>,
    /// Connections to the host that are not in use.
    doors: Mutex<VecDeque<TcpStream>>,
    wrong: Mutex<Option<String>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    pub(super) fn of(host: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            host,
            verified: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            waiting: Mutex::default(),
            doors: Mutex::default(),
            wrong: Mutex::default(),
        })
    }

    /// Is told when this job is settled.
    pub(super) fn wait_for(&self, job: &str) -> Arc<Notify> {
        let told = Arc::new(Notify::new());
        lock(&self.waiting).insert(job.to_owned(), told.clone());
        told
    }

    /// What broke.
    pub(super) fn wrong(&self) -> Option<String> {
        lock(&self.wrong).take()
    }

    /// Does a job, and posts its result.
    async fn work(&self, job: &Value) -> Result<(), String> {
        let text = |name: &str| job[name].as_str().ok_or_else(|| format!("no {name} in {job}"));
        let url = text("callback_url")?;
        let (_, path) = url.split_once("://").ok_or("a callback that is no URL")?;
        let path = &path[path.find('/').ok_or("a callback without a path")?..];
        let (id, agent) = (text("job_id")?, text("agent_id")?);
        let is_challenge = text("skill_name")? == "chorus.verify";
        let result = match is_challenge {
            true => json!({"job_id": id, "agent_id": agent, "status": "FAILURE"}),
            false => json!({
                "job_id": id,
                "agent_id": agent,
                "status": "SUCCESS",
                "output_data": {"text": "guten Morgen"},
                "execution_cost": job["budget"],
                "execution_time_ms": 1,
            }),
        };
        let answer = self.post(path, &result.to_string()).await?;
        if is_challenge {
            self.verified.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        if answer["state"] != "Completed" {
            return Err(format!("a result is answered with {answer}"));
        }
        self.settled.fetch_add(1, Ordering::Relaxed);
        if let Some(told) = lock(&self.waiting).remove(id) {
            told.notify_one();
        }
        Ok(())
    }

    async fn post(&self, path: &str, body: &str) -> Result<Value, String> {
        let failed = |e: std::io::Error| format!("callback: {e}");
        let free = lock(&self.doors).pop_front();
        let mut door = match free {
            Some(door) => door,
            None => TcpStream::connect(self.host).await.map_err(failed)?,
        };
        door.set_nodelay(true).map_err(failed)?;
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        door.write_all(request.as_bytes()).await.map_err(failed)?;
        let mut got = Vec::new();
        loop {
            if door.read_buf(&mut got).await.map_err(failed)? == 0 {
                return Err("callback: the host closed the connection".to_owned());
            }
            let Some((status, head, end)) = talk::head_and_body(&got) else { continue };
            let body = &got[head..end];
            if !(200..300).contains(&status) {
                return Err(format!("callback: HTTP {status}: {}", String::from_utf8_lossy(body)));
            }
            let answer = serde_json::from_slice(body).unwrap_or_default();
            lock(&self.doors).push_back(door);
            return Ok(answer);
        }
    }
}

/// Where it will be served.
pub(super) struct Place(TcpListener);

impl Place {
    pub(super) fn bind() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| format!("agents: {e}"))?;
        listener.set_nonblocking(true).map_err(|e| format!("agents: {e}"))?;
        Ok(Self(listener))
    }

    pub(super) fn url(&self) -> Result<String, String> {
        let addr = self.0.local_addr().map_err(|e| format!("agents: {e}"))?;
        Ok(format!("http://{addr}/jobs"))
    }
}

/// Serves it from now on, on the runtime it is called in.
pub(super) fn serve(at: Place, seen: Arc<Seen>) -> Result<(), String> {
    let listener = tokio::net::TcpListener::from_std(at.0).map_err(|e| format!("agents: {e}"))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, seen.clone()));
        }
    });
    Ok(())
}

async fn answer(mut stream: TcpStream, seen: Arc<Seen>) {
    let _ = stream.set_nodelay(true);
    let mut got = Vec::with_capacity(4 * 1024);
    loop {
        let Some((_, head, end)) = talk::head_and_body(&got) else {
            match stream.read_buf(&mut got).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        let job: Value = serde_json::from_slice(&got[head..end]).unwrap_or_default();
        got.drain(..end);
        if stream.write_all(TAKEN).await.is_err() {
            return;
        }
        let seen = seen.clone();
        tokio::spawn(async move {
            if let Err(why) = seen.work(&job).await {
                lock(&seen.wrong).get_or_insert(why);
            }
        });
    }
}
