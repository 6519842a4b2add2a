//! The screens of programs that runners keep, for people who look at them.
//!
//! Nothing is kept but the newest screen of a session, and that only while somebody looks. A look tells the runner to
//! send its screen for a while; who goes on looking asks again before that is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::commands::notes;
use chorus_core::model::audit::{self, Action};
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, SessionKey, Timestamp};
use chorus_core::model::registry::owner_of;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::method;
use chorus_wire::attention::screen::{Screen, Span, Watch};
use chorus_wire::jsonrpc::Notification;
use chorus_wire::rest::sessions::{GetScreen, SessionScreen};
use tokio::sync::watch;

use super::clock::HostClock;
use super::commands::Commands;
use super::drain::Drain;
use super::identity::Identity;
use super::ids;
use crate::auth::Caller;
use crate::dispatch::connections::{Connections, Note};
use crate::redact::Redactor;

/// How long a runner sends its screen after a look.
const SENT_FOR_MS: u32 = 60_000;
/// How long a session counts as looked at: longer, so that a runner that still sends has sent something.
const LOOKED_FOR_MS: i64 = 120_000;
/// A look waits so long for something newer.
const WAIT: Duration = Duration::from_secs(20);
/// While it waits, it is looked so often whether it still may.
const SLICE: Duration = Duration::from_millis(250);
/// Sessions that are looked at, on one host.
const WATCHED: usize = 1_000;
/// The largest screen.
const LINES: usize = 500;
const SPANS: usize = 8_000;
const BYTES: usize = 256 * 1_024;

/// The newest screen and its version.
type Newest = (u64, Option<Arc<Screen>>);
type Seen = watch::Receiver<Newest>;
type Line = Vec<Span>;

/// A session that somebody looks at.
struct Watched {
    newest: watch::Sender<Newest>,
    looked: Timestamp,
    /// Who looked lately, so that a look is noted in the audit log once.
    by: HashMap<MemberKey, Timestamp>,
}

/// What is looked at, by session.
#[derive(Default)]
pub(crate) struct Screens(Mutex<HashMap<SessionKey, Watched>>);

pub(crate) struct ScreenService {
    pub(super) commands: Arc<Commands>,
    pub(super) clock: Arc<HostClock>,
    pub(super) connections: Arc<Connections>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) drain: Arc<Drain>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) identity: Arc<Identity>,
    pub(super) screens: Arc<Screens>,
}

impl ScreenService {
    /// `GET /v1/sessions/{id}/screen`: the screen, once it is newer than the one that the caller has.
    pub(crate) async fn screen(
        &self,
        caller: &Caller,
        id: &str,
        asked: GetScreen,
    ) -> Result<SessionScreen, Refusal> {
        caller.must_not_be_a_turn()?;
        let (session, agent) = self.may_look(caller, id)?;
        let Some(connection) = self.connections.get(session) else {
            let why = "the runner of this session is not connected to this host";
            return Err(Refusal::new(Code::Conflict, why));
        };
        let (mut newest, is_first) = self.look(session, caller.by.member)?;
        if is_first {
            let note = audit::Note {
                act: Action::WatchScreen,
                name: "".into(),
                member: Some(agent),
                refused: None,
                took_ms: None,
            };
            self.commands.submit(caller.by, notes::Note(note)).await?;
        }
        let watch = Notification::new(method::WATCH, Watch { for_ms: SENT_FOR_MS });
        if let Ok(text) = serde_json::to_string(&watch) {
            connection.note(Note { text, withdraws: None, typing: None });
        }
        let has = asked.after.unwrap_or_default();
        let is_newer = |(version, screen): &Newest| screen.is_some() && *version > has;
        let mut slices = 0..WAIT.as_millis() / SLICE.as_millis();
        let (version, screen) = loop {
            if let Ok(Ok(found)) = tokio::time::timeout(SLICE, newest.wait_for(is_newer)).await {
                let found = (found.0, found.1.clone());
                self.may_look(caller, id)?;
                break found;
            }
            if slices.next().is_none() || self.drain.is_draining() {
                break (has, None);
            }
            self.may_look(caller, id)?;
        };
        Ok(SessionScreen { version, screen: screen.map(|screen| Screen::clone(&screen)) })
    }

    /// A session that the caller may look at, and whose it is.
    fn may_look(&self, caller: &Caller, id: &str) -> Result<(SessionKey, MemberKey), Refusal> {
        if !self.identity.still_valid(caller) {
            return Err(Refusal::new(Code::Unauthorized, "the token has ended"));
        }
        let directory = self.directory.load();
        let unknown = || Refusal::not_found("session");
        let session = directory.session_by_uid(ids::session(id)?).ok_or_else(unknown)?;
        let agent = directory.member(session.member).ok_or_else(unknown)?;
        let is_owner = *owner_of(agent) == *caller.member.id;
        if !is_owner && caller.by.authority < Authority::Operator {
            let why = "a terminal is shown to the agent's owner and to operators";
            return Err(Refusal::new(Code::InsufficientAuthority, why));
        }
        if !session.runner {
            let why = "this session has no terminal: only programs of `chorus run` have one";
            return Err(Refusal::new(Code::Conflict, why));
        }
        Ok((session.key, session.member))
    }

    /// Notes that the session is looked at; whether this member has not looked lately.
    fn look(&self, session: SessionKey, by: MemberKey) -> Result<(Seen, bool), Refusal> {
        let now = self.clock.now();
        let is_over = |at: Timestamp| now.since(at) > LOOKED_FOR_MS;
        let mut all = self.screens.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, watched| !is_over(watched.looked));
        if all.len() >= WATCHED && !all.contains_key(&session) {
            let why = "too many terminals are looked at; look again in a minute";
            return Err(Refusal::new(Code::RateLimited, why));
        }
        let watched = all.entry(session).or_insert_with(|| Watched {
            newest: watch::Sender::new((0, None)),
            looked: now,
            by: HashMap::new(),
        });
        watched.looked = now;
        watched.by.retain(|_, at| !is_over(*at));
        let is_first = watched.by.insert(by, now).is_none();
        Ok((watched.newest.subscribe(), is_first))
    }

    /// `notifications/screen`: a runner shows its program's screen. One that nobody looks at is dropped.
    pub(crate) fn show(&self, caller: &Caller, mut screen: Screen) -> Result<(), Refusal> {
        let session = caller.by.session.ok_or_else(|| {
            Refusal::invalid("a screen is sent over the connection of a runner's session")
        })?;
        if screen.private {
            screen = Screen { private: true, ..Screen::default() };
        }
        self.check(&mut screen)?;
        let all = self.screens.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watched) = all.get(&session) {
            watched.newest.send_modify(|(version, newest)| {
                // Never the number of an earlier host's, which a page may still have.
                *version = (*version + 1).max(self.clock.now().0.unsigned_abs());
                *newest = Some(Arc::new(screen));
            });
        }
        Ok(())
    }

    /// Blacks out secrets of lines that are one text; where there are any, all stands in the first.
    fn black_out(&self, lines: &mut [Line]) {
        let text: String = lines.iter().map(text_of).collect();
        if let Some((text, _)) = self.redactor.text(&text) {
            lines.iter_mut().for_each(Vec::clear);
            if let Some(first) = lines.first_mut() {
                *first = vec![Span { text, ..Span::default() }];
            }
        }
    }

    /// Refuses what is no screen, and blacks out secrets.
    fn check(&self, screen: &mut Screen) -> Result<(), Refusal> {
        let lines = screen.lines.as_deref_mut().unwrap_or_default();
        let spans = lines.iter().map(Vec::len).sum::<usize>();
        let bytes = lines.iter().flatten().map(|span| span.text.len()).sum::<usize>();
        if lines.len() > LINES || spans > SPANS || bytes > BYTES {
            return Err(Refusal::invalid(format!(
                "a screen has at most {LINES} lines, {SPANS} spans and {BYTES} bytes"
            )));
        }
        // A full line goes on in the next one, and a secret may have been cut there.
        let width = usize::from(screen.columns);
        let goes_on: Vec<_> =
            lines.iter().map(|line| text_of(line).chars().count() >= width).collect();
        lines.iter_mut().for_each(|line| self.black_out(std::slice::from_mut(line)));
        let mut begin = 0;
        for (at, goes_on) in goes_on.into_iter().enumerate() {
            if !goes_on {
                self.black_out(&mut lines[begin..=at]);
                begin = at + 1;
            }
        }
        self.black_out(&mut lines[begin..]);
        Ok(())
    }
}

fn text_of(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}
