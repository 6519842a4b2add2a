//! What people and agents do with their turns.

use chorus_core::commands::{NotDone, deliveries, messages};
use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::caller::{By, TurnRef};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Message;
use chorus_core::model::ids::{EventRef, MemberKey, Uid};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::Post;

use super::tempers::Temper;
use super::world::World;

impl World {
    pub(crate) fn somebody_speaks(&mut self) {
        let n = self.dice(3) as usize;
        let author = self.people[n];
        let target = format!("agent{}", self.dice(9));
        let text = match self.dice(9) {
            0 => format!("@{target} can you check the deploy?"),
            1 => format!("@{target} thanks!"),
            2 => "@helpers who can look at the flaky test?".into(),
            3 => "lunch was nice today".into(),
            4 => format!("@{target} please take over, this is urgent"),
            5 => "@agent1 @agent8 what do you both think?".into(),
            6 => "and one more thing".into(),
            7 => format!("@{target} deployed 3/5"),
            _ => "is anybody around?".into(),
        };
        let n = self.dice(3) as usize;
        let channel = self.channels[n];
        let channel = if self.may_speak(author, channel) { channel } else { self.channels[0] };
        let reply = (self.dice(4) == 0).then(|| self.human_posts.last().copied()).flatten();
        match self.post(author, channel, &text, reply, None) {
            Ok(uid) => self.human_posts.push(uid),
            Err(refusal) => {
                let by_guard = [
                    Code::PolicyForbidsReply,
                    Code::ClaimedByOther,
                    Code::TurnHeldByOther,
                    Code::StaleTurn,
                    Code::ReplyBudgetSpent,
                    Code::RateLimited,
                ];
                assert!(!by_guard.contains(&refusal.code), "people are never refused: {refusal}");
                self.people_refused += 1;
            }
        }
    }

    fn may_speak(&self, member: MemberKey, channel: Uid) -> bool {
        let room = self.ws.rooms().find(|r| r.conversation().uid == channel);
        room.is_some_and(|r| r.roster().contains_key(&member))
    }

    pub(crate) fn somebody_changes_a_message(&mut self) {
        let Some(uid) = self.human_posts.last().copied() else { return };
        let author = self.log.events[&self.log.by_uid[&uid]].actor;
        let by = self.by(author);
        let _ = match self.dice(3) {
            0 => {
                let text = format!("@agent{} I meant: look at the logs?", self.dice(9));
                let content = Message { text: text.as_str().into(), ..Message::default() };
                self.run(by, messages::Edit { message: uid, content }).map(drop)
            }
            1 => {
                self.human_posts.pop();
                self.run(by, messages::Delete { message: uid }).map(drop)
            }
            _ => {
                let (signal, detail) = (Signal::Done, None);
                self.run(by, messages::React { message: uid, signal, detail, on: true }).map(drop)
            }
        };
    }

    pub(crate) fn post(
        &mut self,
        author: MemberKey,
        conversation: Uid,
        text: &str,
        in_reply_to: Option<Uid>,
        turn: Option<TurnRef>,
    ) -> Result<Uid, Refusal> {
        self.posted += 1;
        let post = Post {
            conversation,
            thread: None,
            message: Message { text: text.into(), ..Message::default() },
            in_reply_to,
            idempotency: None,
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        };
        let by = By { turn, ..self.by(author) };
        match self.try_run(by, post) {
            Ok(logged) => Ok(logged.entry.event.uid),
            // What it was told in the pair, and says elsewhere without a turn.
            Err(NotDone::AwaitsApproval(_)) => {
                Err(Refusal::new(Code::ApprovalRequired, "it waits"))
            }
            Err(NotDone::Refused(refusal)) => {
                *self.refusals.entry(refusal.code).or_default() += 1;
                Err(refusal)
            }
        }
    }

    pub(crate) fn agents_act(&mut self) {
        let Some(offer) = self.inbox.pop_front() else { return };
        if self.sessions.get(&offer.member) != Some(&offer.session) {
            return;
        }
        let temper = self.agents.iter().find(|a| a.0 == offer.member).expect("an agent").1;
        let by = self.by(offer.member);
        let event = offer.entry.event.clone();
        let at = EventRef { conversation: event.conversation, seq: event.seq };
        if temper == Temper::Deaf {
            return;
        }
        // Superseded while it was on its way: accepting it is harmless.
        let _ = self.run(by, deliveries::Accept { event: at, attempt: offer.attempt, epoch: None });
        let turn =
            TurnRef { conversation: at.conversation, seq: at.seq, fence: offer.fence, attempt: 0 };
        let name = self.ws.directory().member(event.actor).map(|m| m.handle.clone());
        let name = name.expect("an author");
        let must = offer.decision.policy == Policy::MustRespond;
        let (text, times) = match temper {
            Temper::Careful if must => ("done, the deploy is green".to_string(), 1),
            Temper::Careful | Temper::Deaf => (String::new(), 0),
            Temper::Eager => ("@agent1 @agent8 and what do you say?".to_string(), 1),
            Temper::Grateful => (format!("@{name} thank you so much!"), 1),
            Temper::Flaky => {
                self.disconnect(offer.member);
                return;
            }
            Temper::Shy if must => (format!("@{name} fine, what next?"), 1),
            Temper::Shy => (String::new(), 0),
            Temper::Rude => (format!("@{name} well actually?"), 2),
            Temper::Chatty => (format!("@{name} something"), 6),
        };
        for n in 0..times {
            let said = self.post(
                offer.member,
                offer.entry.conversation.uid,
                &format!("{text} {n}"),
                Some(event.uid),
                Some(turn),
            );
            if said.is_ok() {
                *self.replies.entry((event.uid, offer.member)).or_default() += 1;
            }
        }
        if temper == Temper::Rude {
            self.be_rude(offer.member);
        }
        if matches!(temper, Temper::Rude | Temper::Grateful | Temper::Chatty) {
            self.grab(offer.member);
        }
        if times == 0 {
            let disposition = if must { Disposition::Failed } else { Disposition::Ignored };
            let _ = self.run(by, deliveries::Dispose { event: event.uid, disposition, note: None });
        }
    }

    /// Claims one of the newest messages of people, whoever has it already.
    fn grab(&mut self, member: MemberKey) {
        let newest = self.human_posts.len().saturating_sub(1 + self.dice(3) as usize);
        let Some(event) = self.human_posts.get(newest).copied() else { return };
        if let Err(refusal) = self.run(self.by(member), deliveries::Claim { event }) {
            *self.refusals.entry(refusal.code).or_default() += 1;
        }
    }

    /// Answers the newest message of a person, whoever it is for.
    fn be_rude(&mut self, member: MemberKey) {
        let Some(uid) = self.human_posts.last().copied() else { return };
        let at = self.log.by_uid[&uid];
        let event = self.log.events[&at].clone();
        let channel = self.ws.room(at.conversation).expect("a room").conversation().uid;
        let told = event
            .attention
            .as_ref()
            .and_then(|a| a.told.iter().find(|t| t.member == member))
            .cloned();
        let listed = told.is_some_and(|t| {
            t.decision.policy != Policy::MustNotRespond
                || t.decision.directedness == Directedness::ToMyRole
        });
        // It may have claimed it, and ended that since.
        let open = self.ws.room(at.conversation).and_then(|r| r.open().get(&at.seq));
        let open = open.or_else(|| self.log.receipts.get(&at));
        let known = open.is_some_and(|o| o.delivery(member).is_some());
        let result = self.post(member, channel, "let me butt in", Some(uid), None);
        if !listed && !known && self.may_speak(member, channel) {
            let refusal = result.expect_err("nobody answers what it was not told");
            assert!(
                matches!(
                    refusal.code,
                    Code::PolicyForbidsReply | Code::StaleTurn | Code::ClaimedByOther
                ),
                "{refusal}"
            );
        } else if result.is_ok() {
            *self.replies.entry((uid, member)).or_default() += 1;
        }
    }
}
