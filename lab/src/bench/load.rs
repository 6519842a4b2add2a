//! A closed loop of clients on one thread: each has one connection and asks again when it was answered.
//!
//! One thread and one event loop, since the generator shares two cores with the server; a thread per client
//! costs more switches than the requests cost work.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// How one client speaks: it writes requests and finds the ends of answers.
pub(crate) trait Talk: Send + 'static {
    /// What is said before the clock starts, until [`Talk::greeted`] says so: a handshake.
    fn greet(&mut self, _out: &mut Vec<u8>) {}

    /// Reads what came while greeting: `None` for more to come, else how much was read.
    ///
    /// # Errors
    /// The other side refused.
    fn greeted(&mut self, _got: &[u8], _out: &mut Vec<u8>) -> Result<Greeting, String> {
        Ok(Greeting::Done(0))
    }

    /// Appends the next request.
    fn ask(&mut self, out: &mut Vec<u8>);

    /// Looks at what came since the last answer.
    ///
    /// # Errors
    /// The answer is a refusal: a load that is refused measures nothing, so the run stops.
    fn answer(&mut self, got: &[u8]) -> Result<Answer, String>;

    /// Requests on their way at once.
    fn depth(&self) -> usize {
        1
    }

    /// Whether there is nothing more to ask, before the window ends.
    fn finished(&self) -> bool {
        false
    }
}

/// What a look at a handshake found.
pub(crate) enum Greeting {
    /// Not a whole answer yet.
    More,
    /// One answer of this many bytes, and the next request was written.
    Next(usize),
    /// The last answer, of this many bytes.
    Done(usize),
}

/// What a look at the input found.
pub(crate) enum Answer {
    /// Not a whole answer yet.
    More,
    /// Something of this many bytes that answers no request.
    Skip(usize),
    /// The answer to the oldest request, of this many bytes.
    Done(usize),
}

/// What a load measured.
pub(crate) struct Outcome {
    /// Answers a second, over the window.
    pub(crate) rate: f64,
    /// Answers from the first request to the last, also those after the window.
    pub(crate) answers: u64,
    /// What 99 of 100 requests of the window took at most, in microseconds; not a number when there were none.
    pub(crate) p99_us: f64,
}

/// The event loop that measurements run on.
pub(crate) fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread().enable_all().build().map_err(|e| format!("runtime: {e}"))
}

/// Connects every client, greets, starts them together, and counts answers for `window`.
pub(crate) fn run<T: Talk>(
    addr: SocketAddr,
    window: Duration,
    talks: Vec<T>,
) -> Result<Outcome, String> {
    run_at(window, talks.into_iter().map(|talk| (addr, talk)).collect())
}

/// The same, each client with a server of its own.
pub(crate) fn run_at<T: Talk>(
    window: Duration,
    talks: Vec<(SocketAddr, T)>,
) -> Result<Outcome, String> {
    runtime()?.block_on(async {
        let mut clients = Vec::with_capacity(talks.len());
        for (addr, talk) in talks {
            clients.push(Client::connect(addr, talk).await?);
        }
        let end = Instant::now() + window;
        let mut tasks = JoinSet::new();
        for client in clients {
            tasks.spawn(client.run(end));
        }
        let (mut times, mut all) = (Vec::new(), 0_u64);
        while let Some(done) = tasks.join_next().await {
            let (in_time, total) = done.map_err(|e| e.to_string())??;
            times.extend(in_time);
            all += total;
        }
        let rate = times.len() as f64 / window.as_secs_f64();
        Ok(Outcome { rate, answers: all, p99_us: p99_us(times) })
    })
}

/// The 99th percentile; not a number of nothing.
pub(crate) fn p99_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() * 99 / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

struct Client<T> {
    stream: TcpStream,
    talk: T,
    input: Vec<u8>,
}

impl<T: Talk> Client<T> {
    async fn connect(addr: SocketAddr, mut talk: T) -> Result<Self, String> {
        let stream = TcpStream::connect(addr).await.map_err(|e| format!("{addr}: {e}"))?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        talk.greet(&mut out);
        let mut client = Self { stream, talk, input: Vec::with_capacity(16 * 1024) };
        loop {
            client.send(&mut out).await?;
            match client.talk.greeted(&client.input, &mut out)? {
                Greeting::More => client.receive().await?,
                Greeting::Next(bytes) => drop(client.input.drain(..bytes)),
                Greeting::Done(bytes) => {
                    drop(client.input.drain(..bytes));
                    return Ok(client);
                }
            }
        }
    }

    /// Asks until `end`, and then waits for what is still on its way: how long each answer within took, and how many
    /// came in all.
    async fn run(mut self, end: Instant) -> Result<(Vec<Duration>, u64), String> {
        let (mut within, mut all, mut on_their_way) = (Vec::new(), 0, VecDeque::new());
        let mut out = Vec::with_capacity(4 * 1024);
        loop {
            let in_time = Instant::now() < end;
            while in_time && on_their_way.len() < self.talk.depth() && !self.talk.finished() {
                self.talk.ask(&mut out);
                on_their_way.push_back(Instant::now());
            }
            if on_their_way.is_empty() {
                return Ok((within, all));
            }
            self.send(&mut out).await?;
            self.receive().await?;
            let mut read = 0;
            loop {
                match self.talk.answer(&self.input[read..])? {
                    Answer::More => break,
                    Answer::Skip(bytes) => read += bytes,
                    Answer::Done(bytes) => {
                        read += bytes;
                        all += 1;
                        let (asked, now) = (on_their_way.pop_front(), Instant::now());
                        within.extend(asked.filter(|_| in_time && now < end).map(|at| now - at));
                    }
                }
            }
            self.input.drain(..read);
        }
    }

    async fn send(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        if !out.is_empty() {
            self.stream.write_all(out).await.map_err(|e| format!("send: {e}"))?;
            out.clear();
        }
        Ok(())
    }

    async fn receive(&mut self) -> Result<(), String> {
        match self.stream.read_buf(&mut self.input).await {
            Ok(0) => Err("the server closed the connection".to_owned()),
            Ok(_) => Ok(()),
            Err(e) => Err(format!("receive: {e}")),
        }
    }
}
