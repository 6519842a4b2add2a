//! Small pictures, made by one task for the whole host, one after the other: however many pictures come at once, and by
//! whichever transport, the pixels of one are in memory.
//!
//! They are unpacked on one thread: an allocator that keeps memory for each thread would else keep a picture of each.
//!
//! One is made when somebody asks for it, and never for nobody: a file of two kilobytes may have sixteen million pixels.
//! Members take turns, so that who asks for many waits for them alone.

use std::collections::VecDeque;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as jobs};
use std::time::Duration;
use std::{io, thread};

use chorus_core::commands::assets;
use chorus_core::model::asset::{Asset, Media};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::MemberKey;
use tokio::sync::{Notify, oneshot, watch};

use super::{picture, stopping};
use crate::services::assets::AssetService;

/// Small pictures for which one member waits at once.
const WAITING: usize = 16;
/// The longest that somebody waits for one.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is wanted, by member; whose turn is next stands first.
#[derive(Default)]
pub(crate) struct Thumbnails {
    wanted: Mutex<VecDeque<(MemberKey, VecDeque<Wanted>)>>,
    came: Notify,
}

/// A picture, and who waits for its small one.
struct Wanted {
    asset: Asset,
    answer: oneshot::Sender<Result<Option<Vec<u8>>, Refusal>>,
}

impl Thumbnails {
    /// The small picture, once it is made; none where there can be none.
    pub(super) async fn made(
        &self,
        asset: &Asset,
        member: MemberKey,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let (answer, answered) = oneshot::channel();
        self.want(member, Wanted { asset: asset.clone(), answer })?;
        let answered = tokio::time::timeout(PATIENCE, answered).await.map_err(|_| {
            Refusal::new(Code::Unavailable, "it is being made; try again in a moment")
        })?;
        answered.map_err(|_| stopping())?
    }

    fn want(&self, member: MemberKey, wanted: Wanted) -> Result<(), Refusal> {
        let mut all = self.lock();
        match all.iter_mut().find(|(who, _)| *who == member) {
            Some((_, mine)) => {
                // Who has gone waits for nothing.
                mine.retain(|wanted| !wanted.answer.is_closed());
                if mine.len() >= WAITING {
                    let why = format!(
                        "{WAITING} small pictures are being made for you; try again in a moment"
                    );
                    return Err(Refusal::new(Code::RateLimited, why));
                }
                mine.push_back(wanted);
            }
            None => all.push_back((member, [wanted].into())),
        }
        self.came.notify_one();
        Ok(())
    }

    /// The next one that somebody waits for.
    fn next(&self) -> Option<Wanted> {
        let mut all = self.lock();
        while let Some((member, mut mine)) = all.pop_front() {
            let next = std::iter::from_fn(|| mine.pop_front()).find(|w| !w.answer.is_closed());
            if !mine.is_empty() {
                all.push_back((member, mine));
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(MemberKey, VecDeque<Wanted>)>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AssetService {
    /// Makes what is wanted, until the host stops.
    pub(crate) async fn make_thumbnails(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let unpacking = match Unpacking::start() {
            Ok(unpacking) => unpacking,
            Err(error) => return tracing::error!(%error, "no small pictures will be made"),
        };
        loop {
            let Some(Wanted { asset, answer }) = self.thumbnails.next() else {
                tokio::select! {
                    _ = stopped.wait_for(|stopped| *stopped) => return,
                    () = self.thumbnails.came.notified() => continue,
                }
            };
            let small = self.make_thumbnail(&unpacking, &asset).await;
            if let Err(refusal) = &small {
                tracing::warn!(%refusal, "a small picture could not be made");
            }
            // Whoever asked may have gone.
            let _ = answer.send(small);
            if *stopped.borrow() {
                return;
            }
        }
    }

    /// What is there already is not made again, and what cannot be made is not tried again.
    async fn make_thumbnail(
        &self,
        unpacking: &Unpacking,
        asset: &Asset,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let hash = asset.hash;
        let found = self.reads.read(move |readers| readers.asset_data(&hash)).await?;
        let Some((data, small)) = found else { return Ok(None) };
        if small.is_some() {
            return Ok(small);
        }
        let data = self.whole(data).await?;
        let made = unpacking.thumbnail(asset.media, data).await.unwrap_or_default();
        let thumbnail = Arc::from(&*made);
        let keep = assets::KeepThumbnail { hash, thumbnail };
        if let Err(refusal) = self.commands.submit_redacted(By::host(), keep).await {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use chorus_core::model::ids::{Timestamp, Uid};

    use super::*;

    // covers: OPS-448
    #[test]
    fn members_take_turns_and_who_has_gone_waits_for_nothing() {
        let all = Thumbnails::default();
        let mut waiting = Vec::new();
        let mut ask = |member, n: u8| {
            let (answer, answered) = oneshot::channel();
            let asset = Asset {
                uid: Uid(n.into()),
                hash: [n; 32],
                name: "picture.png".into(),
                media: Media::Png,
                bytes: 1,
                by: MemberKey(1),
                at: Timestamp(0),
            };
            let wanted = Wanted { asset, answer };
            let asked = all.want(MemberKey(member), wanted).map_err(|refusal| refusal.code);
            waiting.push(answered);
            asked
        };
        for n in 0..WAITING as u8 {
            ask(1, n).unwrap();
        }
        assert_eq!(ask(1, 99), Err(Code::RateLimited));
        ask(2, 100).unwrap();
        ask(3, 101).unwrap();
        waiting.remove(1);
        let made = std::iter::from_fn(|| all.next()).map(|wanted| wanted.asset.hash[0]);
        let expected: Vec<u8> = [0, 100, 101].into_iter().chain(2..WAITING as u8).collect();
        assert_eq!(made.collect::<Vec<_>>(), expected);
    }
}
