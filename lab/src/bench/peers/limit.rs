//! The limits of the machine: what one synchronous write costs, and what the HTTP stack alone does.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;

use crate::bench::{load, report, talk};

/// A file on the measured disk that grows by synchronous appends.
pub(crate) struct Syncs {
    file: File,
    _folder: tempfile::TempDir,
}

/// What appending measured.
pub(crate) struct SyncOutcome {
    /// Appends a second.
    pub(crate) rate: f64,
    /// Microseconds of the median append.
    pub(crate) median_us: f64,
}

impl Syncs {
    pub(crate) fn open() -> Result<Self, String> {
        let folder = super::folder("bench-sync")?;
        let file = File::create(folder.path().join("log")).map_err(|e| format!("sync: {e}"))?;
        Ok(Self { file, _folder: folder })
    }

    /// Appends `bytes` and calls fdatasync, one after the other, for `window`.
    pub(crate) fn measure(
        &mut self,
        window: Duration,
        bytes: usize,
    ) -> Result<SyncOutcome, String> {
        let block = vec![0x5a_u8; bytes];
        let mut times = Vec::new();
        let started = Instant::now();
        while started.elapsed() < window {
            let before = Instant::now();
            self.file.write_all(&block).map_err(|e| format!("append: {e}"))?;
            self.file.sync_data().map_err(|e| format!("fdatasync: {e}"))?;
            times.push(before.elapsed().as_secs_f64() * 1e6);
        }
        let rate = times.len() as f64 / started.elapsed().as_secs_f64();
        Ok(SyncOutcome { rate, median_us: report::median(&times) })
    }
}

/// A bare axum server that says hello, on a runtime of its own.
pub(crate) struct Hello {
    addr: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl Hello {
    pub(crate) fn start() -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|e| format!("hello: {e}"))?;
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .map_err(|e| format!("hello: {e}"))?;
        let addr = listener.local_addr().map_err(|e| format!("hello: {e}"))?;
        let app = Router::new().route("/", get(|| async { "hello" }));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self { addr, _runtime: runtime })
    }

    /// Requests a second with `clients` connections.
    pub(crate) fn measure(&self, window: Duration, clients: usize) -> Result<f64, String> {
        let ask = || {
            talk::Get(Box::new(|out: &mut Vec<u8>| {
                out.extend_from_slice(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
            }))
        };
        let talks = std::iter::repeat_with(ask).take(clients).collect();
        Ok(load::run(self.addr, window, talks)?.rate)
    }
}
