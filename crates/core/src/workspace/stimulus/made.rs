//! Stimuli that the host makes of what happens in threads.

use super::super::conversation::derived;
use super::super::{Failure, Result, Run};
use super::headline;
use crate::ids::{ConversationKey, MemberKey, ThreadKey, Uid};
use crate::stimulus::{Stimulus, StimulusKind, StimulusState};

/// How far the id of a stimulus is from those of the events that the same command logs.
const APART: usize = 100;

impl Run<'_> {
    /// The work of a thread was superseded: who reads there is told so.
    pub(in crate::workspace) fn notice_superseded(
        &mut self,
        key: ConversationKey,
        at: ThreadKey,
    ) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        let text = format!("The work on {:?} is superseded.", thread.title);
        let notice = self.made(StimulusKind::SupersessionNotice, at, thread.uid, &text);
        // A full queue is no reason to refuse what was asked for.
        match self.enqueue(key, notice) {
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// A result stands in the feed as soon as it is said; the queue knows that it was.
    pub(in crate::workspace) fn note_result(
        &mut self,
        key: ConversationKey,
        at: ThreadKey,
        said: Uid,
    ) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        let result = self.made(StimulusKind::ResultSummary, at, thread.uid, "");
        let ended = result.ended(StimulusState::Dispatched, self.now);
        self.room_mut(key).put_stimulus(Stimulus { said: Some(said), ..ended });
        Ok(())
    }

    /// The last finding of a thread was settled: its owner is told that the review is done.
    pub(in crate::workspace) fn review_completed(
        &mut self,
        key: ConversationKey,
        at: ThreadKey,
    ) -> Result<()> {
        let Some(thread) = self.thread(key, Some(at)).cloned() else { return Ok(()) };
        if self.open_findings(key, at)?.is_none_or(|open| !open.is_empty()) {
            return Ok(());
        }
        let text = format!("The review of {:?} is complete: no finding is open.", thread.title);
        let made = self.made(StimulusKind::ReviewCompleted, at, thread.uid, &text);
        let seated = |m: &MemberKey| self.room(key).roster.contains_key(m);
        let targets = thread.owner.filter(|owner| *owner != made.source && seated(owner));
        let dedupe_key = Some("review".into());
        let made = Stimulus { targets: targets.into_iter().collect(), dedupe_key, ..made };
        match self.enqueue(key, made) {
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(unavailable) => Err(unavailable),
        }
    }

    /// One that a command makes beside what it does.
    fn made(&self, kind: StimulusKind, at: ThreadKey, thread: Uid, text: &str) -> Stimulus {
        Stimulus {
            uid: derived(self.drawn.second, APART),
            kind,
            source: self.by.member,
            thread: Some((at, thread)),
            text: text.into(),
            title: headline(text),
            targets: Vec::new(),
            private: false,
            progress_key: None,
            dedupe_key: None,
            initiative_key: None,
            created_at: self.now,
            expires_at: None,
            salt: self.drawn.salt,
            state: StimulusState::Pending,
            due_at: self.now,
            attempts: 0,
            opened: false,
            said: None,
            by: None,
            reason: None,
            ended_at: None,
        }
    }
}
