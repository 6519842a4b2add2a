//! Small pictures, made by one task for the whole host, one after the other: however many pictures come at once, and by
//! whichever door, the pixels of one are in memory.
//!
//! They are unpacked on one thread: an allocator that keeps memory for each thread would else keep a picture of each.
//!
//! Nobody who brings a picture waits for that. Which are to be made is a queue in memory; what does not fit, or what a
//! host that ended had not come to, is made when somebody asks for it.

use std::io;
use std::panic::catch_unwind;
use std::sync::{Arc, mpsc as jobs};
use std::thread;
use std::time::Duration;

use chorus_core::asset::{Asset, Media};
use chorus_core::command::{By, Command};
use chorus_core::error::{Code, Refusal};
use chorus_core::event::Hash;
use tokio::sync::{mpsc, oneshot, watch};

use super::{App, picture, stopping};

/// Pictures that wait: each is a hash.
const WAITING: usize = 1_024;
/// The longest that somebody waits for one.
const PATIENCE: Duration = Duration::from_secs(10);

/// The queue.
pub(crate) struct Thumbnails(mpsc::Sender<Wanted>);

/// A picture, and who waits for its small one, if anybody does.
pub(crate) struct Wanted {
    hash: Hash,
    media: Media,
    answer: Option<oneshot::Sender<Result<Option<Vec<u8>>, Refusal>>>,
}

impl Thumbnails {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Wanted>) {
        let (wanted, rest) = mpsc::channel(WAITING);
        (Self(wanted), rest)
    }

    /// A picture was kept. Where there is no room it is made when it is asked for.
    pub(super) fn want(&self, asset: &Asset) {
        if asset.media.is_image() {
            let (hash, media) = (asset.hash, asset.media);
            let _ = self.0.try_send(Wanted { hash, media, answer: None });
        }
    }

    /// The small picture, once it is made; none where there can be none.
    pub(super) async fn made(&self, asset: &Asset) -> Result<Option<Vec<u8>>, Refusal> {
        let (answer, answered) = oneshot::channel();
        let wanted = Wanted { hash: asset.hash, media: asset.media, answer: Some(answer) };
        let busy = || Refusal::new(Code::Unavailable, "it is being made; try again in a moment");
        self.0.try_send(wanted).map_err(|_| busy())?;
        let answered = tokio::time::timeout(PATIENCE, answered).await.map_err(|_| busy())?;
        answered.map_err(|_| stopping())?
    }
}

impl App {
    /// Makes what is wanted, until the host stops.
    pub(crate) async fn make_thumbnails(
        self: Arc<Self>,
        mut wanted: mpsc::Receiver<Wanted>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let unpacking = match Unpacking::start() {
            Ok(unpacking) => unpacking,
            Err(error) => return tracing::error!(%error, "no small pictures will be made"),
        };
        loop {
            let next = tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                next = wanted.recv() => next,
            };
            let Some(Wanted { hash, media, answer }) = next else { return };
            let small = self.make_thumbnail(&unpacking, hash, media).await;
            if let Err(refusal) = &small {
                tracing::warn!(%refusal, "a small picture could not be made");
            }
            if let Some(answer) = answer {
                // Whoever asked may have gone.
                let _ = answer.send(small);
            }
        }
    }

    /// What is there already is not made again, and what cannot be made is not tried again.
    async fn make_thumbnail(
        &self,
        unpacking: &Unpacking,
        hash: Hash,
        media: Media,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let found = self.read(move |readers| readers.asset_data(&hash)).await?;
        let Some((data, small)) = found else { return Ok(None) };
        if small.is_some() {
            return Ok(small);
        }
        let made = unpacking.thumbnail(media, data).await.unwrap_or_default();
        let thumbnail = Arc::from(&*made);
        let keep = Command::KeepThumbnail { hash, thumbnail };
        if let Err(refusal) = self.submit_redacted(By::host(), keep).await {
            // On a full disk, for instance. Whoever asked has it, and it is made again for the next.
            tracing::warn!(%refusal, "a small picture was not kept");
        }
        Ok(Some(made))
    }
}

/// The thread on which pictures are unpacked.
struct Unpacking(jobs::Sender<Job>);

struct Job {
    media: Media,
    data: Vec<u8>,
    made: oneshot::Sender<Option<Vec<u8>>>,
}

impl Unpacking {
    /// Ends when nobody holds it any more.
    fn start() -> io::Result<Self> {
        let (sender, work) = jobs::channel();
        thread::Builder::new().name("thumbnails".to_owned()).spawn(move || {
            for Job { media, data, made } in work {
                // A decoder that panics has made none.
                let small = catch_unwind(|| picture::thumbnail(media, &data)).unwrap_or_default();
                // The host may have stopped.
                let _ = made.send(small);
            }
        })?;
        Ok(Self(sender))
    }

    async fn thumbnail(&self, media: Media, data: Vec<u8>) -> Option<Vec<u8>> {
        let (made, small) = oneshot::channel();
        self.0.send(Job { media, data, made }).ok()?;
        small.await.ok().flatten()
    }
}
