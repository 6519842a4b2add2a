//! Readers: committed state for display. They never provide facts for a decision; the writer has
//! its own.
//!
//! Every call sees one moment and takes bounded time. It blocks on the disk, so async callers run
//! it off their threads where that matters. Deliveries appear here only once they have a row, a
//! second after their event; the writer's memory knows younger ones (`queries::Waiting`).

pub(crate) mod entries;
mod feed;
mod moderation;
mod pool;
mod registry;
mod short_ids;
mod trail;

use std::sync::Arc;

use chorus_core::model::asset::Asset;
use chorus_core::model::audit::Record;
use chorus_core::model::conversation::{Conversation, ConversationKind, Participation, Visibility};
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::delivery::Open;
use chorus_core::model::digest::Digest;
use chorus_core::model::event::{Event, Hash};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Timestamp, Uid,
};
use chorus_core::model::inbox::Remote;
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::model::schedule::Schedule;
use chorus_core::model::stimulus::Stimulus;
use chorus_core::model::thread::Thread;
use chorus_core::state::room::Head;
pub use entries::{Line, Page, Start, StoredEntry};
pub use feed::FeedEntry;
pub use moderation::Moderation;
pub(crate) use pool::Pool;
pub use short_ids::IdKind;
pub use trail::Trace;

use crate::audit::{self, AuditHead, AuditPlace};
use crate::damage::Damage;
use crate::db::{Db, Result};
use crate::durable::Durable;
use crate::stamps::Stamps;
use crate::unread::{self, Unread};
use crate::{
    asset, conversation, digest, event, inbox, log_snapshot, open, read_cursor, schedule, stimulus,
    thread,
};

/// The handle of the readers; cheap to clone.
#[derive(Clone)]
pub struct Readers {
    pool: Arc<Pool>,
    workspace: i64,
    stamps: Arc<Stamps>,
    damage: Arc<Damage>,
    durable: Arc<Durable>,
    /// What a read gives is on disk.
    waits: bool,
}

impl Readers {
    pub(crate) fn new(
        pool: Arc<Pool>,
        workspace: i64,
        stamps: Arc<Stamps>,
        damage: Arc<Damage>,
        durable: Arc<Durable>,
    ) -> Self {
        Self { pool, workspace, stamps, damage, durable, waits: true }
    }

    pub(crate) fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Changes with every commit that changes the room, before that commit is answered. Data read
    /// after this call is at least this new, and earlier data is current as long as the stamp is
    /// the same.
    pub fn stamp(&self, key: ConversationKey) -> u64 {
        self.stamps.of(key)
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&dyn Db, i64) -> Result<T>) -> Result<T> {
        let found = self.pool.read(|db| read(db, self.workspace))?;
        if self.waits {
            self.settle()?;
        }
        Ok(found)
    }

    /// The same for several reads of one answer: none of them waits, and [`Readers::settle`] has to be called before
    /// anything of them is given away.
    pub fn together(&self) -> Self {
        Self { waits: false, ..self.clone() }
    }

    /// Waits until all that may have been read is on disk. An error if it never will be.
    pub fn settle(&self) -> Result<()> {
        self.durable.wait()
    }

    /// Whether there is nothing to wait for.
    pub fn is_settled(&self) -> bool {
        self.durable.is_reached()
    }

    pub fn conversation(&self, uid: Uid) -> Result<Option<Arc<Conversation>>> {
        self.read(|db, ws| Ok(conversation::by_uid(db, ws, uid)?.map(Arc::new)))
    }

    pub fn conversation_by_key(&self, key: ConversationKey) -> Result<Option<Arc<Conversation>>> {
        self.read(|db, ws| Ok(conversation::get(db, ws, key)?.map(Arc::new)))
    }

    /// The conversations that a member may see, oldest first: public ones and its own. Without a
    /// viewer, all.
    pub fn conversations(&self, viewer: Option<MemberKey>) -> Result<Vec<Arc<Conversation>>> {
        self.read(|db, ws| conversation::visible(db, ws, viewer))
    }

    /// All conversations, each read separately, so that an unreadable one hides no other.
    pub fn each_conversation(&self) -> Result<Vec<(ConversationKey, Result<Arc<Conversation>>)>> {
        self.read(conversation::each)
    }

    /// Titles of the unarchived channels that a member may see.
    pub fn channel_titles(&self, viewer: Option<MemberKey>) -> Result<Vec<(Uid, String)>> {
        self.read(|db, ws| conversation::channel_titles(db, ws, viewer))
    }

    /// As [`Readers::conversations`], but only their keys and kinds: cheap for thousands.
    pub fn visible(
        &self,
        viewer: Option<MemberKey>,
    ) -> Result<Vec<(ConversationKey, ConversationKind)>> {
        self.read(|db, ws| conversation::visible_keys(db, ws, viewer))
    }

    /// As [`Readers::conversations`], but only their keys and uids, each with the newest seq of its
    /// log.
    pub fn visible_heads(
        &self,
        viewer: Option<MemberKey>,
    ) -> Result<Vec<(ConversationKey, Uid, Seq)>> {
        self.read(|db, ws| conversation::visible_heads(db, ws, viewer))
    }

    /// The members of a conversation, by key.
    pub fn roster(&self, key: ConversationKey) -> Result<Vec<(MemberKey, Participation)>> {
        self.read(|db, ws| conversation::roster(db, ws, key))
    }

    /// Whether a member may read a conversation: it is public, or the member belongs to it.
    pub fn may_read(&self, key: ConversationKey, member: MemberKey) -> Result<bool> {
        self.read(|db, ws| {
            let Some(found) = conversation::get(db, ws, key)? else { return Ok(false) };
            Ok(found.settings.visibility == Visibility::Public
                || conversation::sits(db, ws, key, member)?)
        })
    }

    /// The conversations that a member belongs to, with its unread counts.
    pub fn unread(&self, member: MemberKey) -> Result<Vec<Unread>> {
        self.read(|db, ws| unread::of_member(db, ws, member))
    }

    /// Whether a member belongs to a conversation.
    pub fn has_seat(&self, key: ConversationKey, member: MemberKey) -> Result<bool> {
        self.read(|db, ws| conversation::sits(db, ws, key, member))
    }

    pub fn head(&self, key: ConversationKey) -> Result<Option<Head>> {
        self.read(|db, ws| conversation::head(db, ws, key))
    }

    /// At most `limit` matching entries of the audit log at or after `from` and `since`.
    pub fn audit(
        &self,
        from: AuditPlace,
        since: Timestamp,
        limit: usize,
        wanted: &dyn Fn(&Record) -> bool,
    ) -> Result<Vec<(AuditPlace, Record)>> {
        self.read(|db, ws| audit::read(db, ws, from, since, limit, wanted))
    }

    pub fn audit_head(&self) -> Result<AuditHead> {
        self.read(audit::head)
    }

    /// At most `limit` matching entries of conversations' logs after the id `after`, oldest first.
    pub fn trail(
        &self,
        after: Uid,
        limit: usize,
        wanted: &dyn Fn(&Trace) -> bool,
    ) -> Result<Vec<Trace>> {
        self.read(|db, ws| trail::trail(db, ws, after, limit, wanted))
    }

    /// The effects of a channel's rules since a time.
    pub fn moderation(&self, channel: &Conversation, since: Timestamp) -> Result<Moderation> {
        self.read(|db, ws| moderation::moderation(db, ws, channel, since))
    }

    /// The number of conversations of a kind.
    pub fn count(&self, kind: ConversationKind) -> Result<u64> {
        self.read(|db, ws| conversation::count(db, ws, kind))
    }

    /// The end of every conversation's log.
    pub fn heads(&self) -> Result<Vec<(ConversationKey, Head)>> {
        self.read(conversation::heads)
    }

    /// At most `limit` events of a log after `after`, as they were logged.
    pub fn log(&self, key: ConversationKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>> {
        self.read(|db, ws| event::after(db, ws, key, after, limit))
    }

    /// The start of a log whose beginning was dropped.
    pub fn base(&self, key: ConversationKey) -> Result<Option<LogSnapshot>> {
        self.read(|db, ws| log_snapshot::get(db, ws, key))
    }

    /// The time of the oldest event that is kept.
    pub fn oldest(&self, key: ConversationKey) -> Result<Option<Timestamp>> {
        self.read(|db, ws| event::oldest(db, ws, key))
    }

    /// The latest time up to which events of any conversation were dropped.
    pub fn dropped_until(&self) -> Result<Option<Timestamp>> {
        self.read(log_snapshot::newest)
    }

    /// One page of a log in order, and whether there is more in its direction. None when the
    /// conversation does not exist.
    pub fn entries(&self, page: &Page) -> Result<Option<(Vec<StoredEntry>, bool)>> {
        self.read(|db, ws| entries::page(db, ws, page))
    }

    /// At most `limit` entries of a feed before a seq, newest first, and where to continue when
    /// there are more.
    pub fn feed(
        &self,
        key: ConversationKey,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<(Vec<FeedEntry>, Option<Seq>)> {
        self.read(|db, ws| feed::feed(db, ws, key, before, limit))
    }

    pub fn entry(&self, uid: Uid) -> Result<Option<StoredEntry>> {
        self.read(|db, ws| match event::find(db, ws, uid)? {
            Some(at) => entries::one(db, ws, at),
            None => Ok(None),
        })
    }

    pub fn entry_at(&self, at: EventRef) -> Result<Option<StoredEntry>> {
        self.read(|db, ws| entries::one(db, ws, at))
    }

    /// The public id of an event.
    pub fn uid_of(&self, at: EventRef) -> Result<Option<Uid>> {
        self.read(|db, ws| Ok(event::get(db, ws, at)?.map(|e| e.uid)))
    }

    /// The position of an event.
    pub fn event_ref(&self, uid: Uid) -> Result<Option<EventRef>> {
        self.read(|db, ws| event::find(db, ws, uid))
    }

    /// The threads of a conversation, oldest first.
    pub fn threads(&self, key: ConversationKey) -> Result<Vec<Thread>> {
        self.read(|db, ws| thread::all(db, ws, key))
    }

    pub fn thread(&self, uid: Uid) -> Result<Option<(ConversationKey, Thread)>> {
        self.read(|db, ws| thread::by_uid(db, ws, uid))
    }

    pub fn thread_by_key(&self, key: ConversationKey, thread: ThreadKey) -> Result<Option<Thread>> {
        self.read(|db, ws| thread::get(db, ws, key, thread))
    }

    /// The thread that began with this message.
    pub fn thread_by_root(&self, key: ConversationKey, root: Seq) -> Result<Option<Thread>> {
        self.read(|db, ws| thread::by_root(db, ws, key, root))
    }

    /// The seq of the conversation after which the messages after this seq of the thread come.
    pub fn seq_in_thread(&self, key: ConversationKey, thread: ThreadKey, seq: u64) -> Result<Seq> {
        self.read(|db, ws| event::in_thread(db, ws, key, thread, seq))
    }

    /// The external channel that a conversation mirrors, if it mirrors one.
    pub fn remote(&self, key: ConversationKey) -> Result<Option<Remote>> {
        self.read(|db, ws| inbox::remote(db, ws, key))
    }

    /// The conversations whose external channels have messages still to be sent.
    pub fn owing(&self) -> Result<Vec<ConversationKey>> {
        self.read(inbox::owing)
    }

    /// The schedules of a conversation, oldest first.
    pub fn schedules(&self, key: ConversationKey) -> Result<Vec<Schedule>> {
        self.read(|db, ws| schedule::all(db, ws, key))
    }

    /// The queue of stimuli of a conversation and its recently ended ones, oldest first.
    pub fn stimuli(&self, key: ConversationKey) -> Result<Vec<Stimulus>> {
        self.read(|db, ws| stimulus::all(db, ws, key))
    }

    /// A member's cursor; at the start when it was never set.
    pub fn cursor(&self, key: ConversationKey, member: MemberKey) -> Result<ReadCursor> {
        self.read(|db, ws| read_cursor::get(db, ws, key, (member, None)))
    }

    /// A member's cursor in a thread, and how many messages of others are behind it.
    pub fn unread_in_thread(
        &self,
        key: ConversationKey,
        thread: ThreadKey,
        member: MemberKey,
    ) -> Result<(ReadCursor, u32)> {
        self.read(|db, ws| unread::in_thread(db, ws, key, thread, member))
    }

    /// Every event with a pending row.
    pub fn pending(&self) -> Result<Vec<(ConversationKey, Open)>> {
        self.read(open::all_pending)
    }

    /// The state of an event's deliveries: from its pending row, otherwise its receipt.
    pub fn standing(&self, key: ConversationKey, seq: Seq) -> Result<Option<Open>> {
        self.read(|db, ws| open::standing(db, ws, EventRef { conversation: key, seq }))
    }

    /// The digests of a member in a conversation whose range ends before `before`, newest first, at
    /// most `limit`; each with the text that a command wrote for it.
    pub fn digests(
        &self,
        key: ConversationKey,
        member: MemberKey,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<(Digest, Option<String>)>> {
        self.read(|db, ws| digest::of_member(db, ws, key, member, before, limit))
    }

    /// A file, when this viewer may see it: it uploaded the file, or may see a message that refers
    /// to it.
    pub fn asset(&self, uid: Uid, viewer: Option<MemberKey>) -> Result<Option<Asset>> {
        self.read(|db, ws| {
            let Some(found) = asset::get(db, ws, uid)? else { return Ok(None) };
            Ok(asset::is_seen(db, ws, &found, viewer)?.then_some(found))
        })
    }

    /// A file, if the viewer may see it in this conversation.
    pub fn asset_in(
        &self,
        uid: Uid,
        key: ConversationKey,
        viewer: Option<MemberKey>,
    ) -> Result<Option<Asset>> {
        self.read(|db, ws| {
            let Some(found) = asset::get(db, ws, uid)? else { return Ok(None) };
            Ok(asset::is_shown_in(db, ws, &found, key, viewer)?.then_some(found))
        })
    }

    /// The newest files of a conversation, or of one of its messages, each with its message.
    pub fn assets_in(
        &self,
        key: ConversationKey,
        only: Option<Seq>,
        viewer: Option<MemberKey>,
    ) -> Result<Vec<(Option<Uid>, Asset)>> {
        self.read(|db, ws| asset::shown_in(db, ws, key, only, viewer))
    }

    /// The total size of the files that a member has uploaded.
    pub fn stored_by(&self, member: MemberKey) -> Result<u64> {
        self.read(|db, ws| asset::stored_by(db, ws, member))
    }

    /// What the workspace stores, as a quota counts it: the size of its files, and 1 KiB for each entry
    /// of its logs, whatever the engine.
    pub fn stored(&self) -> Result<u64> {
        self.read(|db, ws| Ok(asset::stored(db, ws)? + conversation::entries(db, ws)? * 1_024))
    }

    /// The bytes of files with this hash, and their thumbnail.
    #[allow(clippy::type_complexity, reason = "the bytes, and perhaps others")]
    pub fn asset_data(&self, hash: &Hash) -> Result<Option<(Vec<u8>, Option<Vec<u8>>)>> {
        self.read(|db, ws| asset::data(db, ws, hash))
    }

    /// Whether a member has uploaded a file with this name and hash.
    pub fn has_asset(&self, by: MemberKey, hash: &Hash, name: &str) -> Result<bool> {
        self.read(|db, ws| Ok(asset::of(db, ws, by, hash, name)?.is_some()))
    }

    /// Whether the bytes of files with this hash are in this object.
    pub fn is_named(&self, hash: &Hash, name: &str) -> Result<bool> {
        self.read(|db, ws| asset::is_named(db, ws, hash, name))
    }

    /// Objects of files that were dropped, each with the hash of its file.
    pub fn dropped_objects(&self) -> Result<Vec<(Hash, String)>> {
        self.read(asset::dropped_objects)
    }

    /// Every event with a delivery that is out of attempts or overdue.
    pub fn dead_letters(&self) -> Result<Vec<(ConversationKey, Open)>> {
        self.read(open::dead_letters)
    }
}
