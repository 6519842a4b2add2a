//! Directedness: the candidates of a message, and for each the rule that decides whether the
//! message is meant for it.
//!
//! Only candidates are decided individually; everybody else shares one answer (design section 5,
//! "Who is considered"). So the cost of a message depends on its audience, not on the size of the
//! roster.

use super::addressees::Addressees;
pub use super::incoming::{Answer, IncomingMessage, meaning};
use crate::attention::flow::{self, Flowed, Saying};
use crate::attention::greeting;
use crate::attention::policy::{self, Circumstances};
use crate::attention::warning::{word_to_a_person, word_to_a_reader};
use crate::model::attention::{
    Attention, Decision, Directedness, Intent, Mode, Policy, Rule, Told,
};
use crate::model::conversation::ConversationKind;
use crate::model::flow::{Meant, Settings};
use crate::model::ids::{MemberKey, RoleKey, Timestamp};
use crate::model::limits;
use crate::model::maps::KeyMap;
use crate::state::directory::Directory;
use crate::state::room::Room;
use crate::state::workspace::Workspace;

/// The members a decision chooses among: who exists, who is connected, and who was selected when.
#[derive(Clone, Copy)]
pub struct People<'a> {
    pub directory: &'a Directory,
    /// When each member was last selected for a role.
    pub granted: &'a KeyMap<MemberKey, Timestamp>,
    /// Turns each member is running.
    pub running: &'a KeyMap<MemberKey, usize>,
    /// The settings for reading the flow of talk.
    pub flow: Settings,
}

impl Workspace {
    /// The members who may be notified, in the form that attention uses.
    pub(crate) fn people(&self) -> People<'_> {
        People {
            directory: &self.directory,
            granted: &self.granted,
            running: &self.running,
            flow: self.flow,
        }
    }
}

/// Decides a message for everybody in the room. An ephemeral message is delivered only to the
/// members it is shown to.
pub fn decide(room: &Room, people: People<'_>, said: &IncomingMessage<'_>) -> Attention {
    let mut attention = decide_openly(room, people, said);
    attention.stated = said.stated.filter(|_| says_nobody(said.stated));
    if let Some(only) = said.only {
        attention.told.retain(|told| only.contains(&told.member));
        attention.only = Some(only.clone());
    }
    attention
}

fn decide_openly(room: &Room, people: People<'_>, said: &IncomingMessage<'_>) -> Attention {
    let agent = said.by_agent;
    if agent && said.answers_ack {
        let (intent, rest) = (said.intent, Directedness::Ambient);
        return Attention::plain(intent, rest, Vec::new());
    }
    if agent && said.hop >= limits::HOP_END {
        return end_of_chain(room, people.directory, said);
    }
    let named = Addressees::read(room, people.directory, said);
    let mut candidates = Candidates::new(room, people, said, &named);
    candidates.collect();
    let guessed = candidates.flowed.meant;
    let caused = said.caused_by.filter(|m| agent && *m != said.author.key);
    let meant = guessed.or_else(|| caused.map(Meant::surely));
    let rest = if said.only.is_some() || named.anybody() || guessed.is_some() {
        Directedness::ToOther
    } else {
        Directedness::Ambient
    };
    let nobody = candidates.flowed.nobody;
    Attention { meant, nobody, ..Attention::plain(said.intent, rest, candidates.told) }
}

/// The decision for everybody who has no individual decision.
pub fn for_the_rest(attention: &Attention, participates: bool) -> Decision {
    let named = attention.rest == Directedness::ToOther;
    let rule = if named { Rule::NamedOther } else { Rule::Unaddressed };
    let circumstances = Circumstances { participates, ..Circumstances::plain(rule) };
    policy::decide(attention.rest, attention.intent, &circumstances)
}

/// A chain of agents' messages has reached its limit: no agent is notified, and a person is.
fn end_of_chain(room: &Room, directory: &Directory, said: &IncomingMessage<'_>) -> Attention {
    let told = word_to_a_reader(room, directory, said, Rule::HopLimit)
        .or_else(|| word_to_a_person(room, directory, Rule::HopLimit));
    let told = told.into_iter().collect();
    Attention::plain(said.intent, Directedness::Ambient, told)
}

/// This message uses up the timeline's budget for agents without a person: a person is notified, in
/// addition to the addressees.
pub fn add_budget_spent(room: &Room, directory: &Directory, attention: &mut Attention) {
    let word = word_to_a_person(room, directory, Rule::BudgetSpent);
    let Some(word) = word.filter(|w| attention.is_shown_to(w.member)) else { return };
    match attention.told.iter_mut().find(|t| t.member == word.member) {
        Some(told) => told.decision = word.decision,
        None => attention.told.push(word),
    }
}

struct Candidates<'a> {
    room: &'a Room,
    people: People<'a>,
    said: &'a IncomingMessage<'a>,
    named: &'a Addressees,
    told: Vec<Told>,
    flowed: Flowed,
}

impl<'a> Candidates<'a> {
    fn new(
        room: &'a Room,
        people: People<'a>,
        said: &'a IncomingMessage<'a>,
        named: &'a Addressees,
    ) -> Self {
        Self { room, people, said, named, told: Vec::new(), flowed: Flowed::default() }
    }

    /// Applies the rules in the order of design section 5. The first rule that applies to a member
    /// decides.
    fn collect(&mut self) {
        for member in self.said.left_out {
            self.add(*member, Rule::LeftOut);
        }
        if let Some(only) = self.said.only {
            // An ephemeral message is meant for the members it is shown to, whatever its text
            // names.
            for member in only.iter() {
                self.add(*member, Rule::Recipient);
            }
            return;
        }
        if self.room.conversation().kind == ConversationKind::Dm {
            let mut everybody: Vec<_> = self.room.roster().keys().copied().collect();
            everybody.sort_unstable();
            for member in everybody {
                self.add(member, Rule::DirectMessage);
            }
            return;
        }
        if let Some(recipient) = self.named.recipient {
            let elsewhere = self.people.directory.is_stand_in(self.said.author.key);
            self.add(recipient, if elsewhere { Rule::Delivered } else { Rule::Recipient });
        }
        for member in &self.named.members {
            self.add(*member, Rule::Mention);
        }
        for role in &self.named.roles {
            self.add_role(*role);
        }
        if self.named.anybody() {
            if let Some(asker) = self.said.answers.filter(|a| a.plainly) {
                self.add_answer(asker.to);
            }
            if let Some(member) = self.said.replied_to {
                self.add(member, Rule::RepliedToOther);
            }
            return;
        }
        if let Some(asker) = self.said.answers {
            self.add_answer(asker.to);
        }
        if let Some(member) = self.said.replied_to {
            self.add(member, Rule::Reply);
        }
        self.add_continued();
        self.add_thread();
        self.add_flow();
        let listeners: Vec<_> = self.room.listeners().iter().copied().collect();
        for member in listeners {
            self.add(member, Rule::AlwaysListen);
        }
    }

    /// A question from an agent has been answered. A person who asked reads the answer without
    /// being notified.
    fn add_answer(&mut self, asker: MemberKey) {
        if self.people.directory.is_agent(asker) {
            self.add(asker, Rule::AnswerToQuestion);
        }
    }

    /// The author continues: same timeline, nobody in between, within the time in which fragments
    /// form one turn. A message that addresses somebody, even somebody who is not here, is not a
    /// continuation.
    fn add_continued(&mut self) {
        let Some(before) = self.said.before else { return };
        let goes_on = before.author == self.said.author.key
            && self.said.replied_to.is_none()
            && !self.named.addresses
            && self.said.at.since(before.at) <= limits::FRAGMENT_CAP_MS
            && !self.said.by_agent;
        let Some(attention) = before.attention.as_ref().filter(|_| goes_on) else { return };
        for told in &attention.told {
            if told.decision.is_to_me() && told.decision.policy == Policy::MustRespond {
                self.add(told.member, Rule::Continuation);
            }
        }
    }

    /// Nothing says whom a person means, so the flow of talk decides. An agent states whom it
    /// answers by its cause.
    fn add_flow(&mut self) {
        let said = self.said;
        let says_so = said.replied_to.is_some() || self.told.iter().any(|t| t.decision.is_to_me());
        if said.by_agent || says_so || self.named.addresses {
            return;
        }
        let saying = Saying {
            author: said.author.key,
            thread: said.thread.map(|t| t.key),
            at: said.at,
            analysis: said.analysis,
        };
        let directory = self.people.directory;
        let present = |m: MemberKey| {
            let member = directory.member(m).filter(|_| self.room.roster().contains_key(&m));
            member.filter(|m| !m.removed).map(|m| &*m.handle)
        };
        let settings = self.people.flow;
        let may_be_asked = |m: MemberKey| {
            directory.is_agent(m)
                && !self.room.has_left(m, saying.thread)
                && !said.left_out.contains(&m)
        };
        let guess = || flow::guess(self.room.talk(), &saying, settings, present, may_be_asked);
        let flowed = said.flowed.unwrap_or_else(guess);
        self.flowed = flowed;
        if let Some(meant) = flowed.meant.filter(|m| directory.is_agent(m.member))
            && let Some(rule) = settings.rule_of(meant.confidence)
        {
            self.add(meant.member, rule);
        }
        if let Some(one) = flowed.asked.filter(|_| settings.ask_one) {
            self.ask_one(one, flowed.meant);
        }
    }

    /// Selects one agent for a question that seems to be for nobody in particular, if no agent is
    /// notified for another reason.
    fn ask_one(&mut self, one: MemberKey, meant: Option<Meant>) {
        let asks = matches!(self.said.intent, Intent::Question | Intent::Request | Intent::Blocker);
        let somebodys = meant.is_some_and(|m| m.confidence >= self.people.flow.somebodys)
            || self.told.iter().any(|t| {
                t.decision.rule != Rule::LeftOut && self.people.directory.is_agent(t.member)
            });
        if asks && !somebodys && !says_nobody(self.said.stated) {
            self.add(one, Rule::AskedOne);
        }
    }

    fn add_thread(&mut self) {
        let stream = self.said.stream.and_then(|s| self.people.directory.stream(s));
        if let Some(thread) = self.said.thread {
            if thread.participants.len() <= 2 && self.said.intent.asks() {
                for member in &thread.participants {
                    self.add(*member, Rule::ThreadOfTwo);
                }
            }
            if let Some(owner) = thread.owner {
                self.add(owner, Rule::ThreadOwner);
            }
        }
        if let Some(owner) = stream.and_then(|s| s.owner) {
            self.add(owner, Rule::StreamOwner);
        }
        if let Some(thread) = self.said.thread {
            for member in &thread.participants {
                self.add(*member, Rule::ThreadParticipant);
            }
        }
    }

    /// Selects one member of a role to respond; the others are not notified (design section 5,
    /// "Role mentions").
    fn add_role(&mut self, role: RoleKey) {
        let Some(role) = self.people.directory.role(role) else { return };
        let mut order: Vec<MemberKey> =
            role.members.iter().copied().filter(|m| self.may_be_told(*m)).collect();
        order.sort_by_key(|m| self.people.preference(*m));
        let mut order = order.into_iter();
        if let Some(selected) = order.next() {
            self.add(selected, Rule::RoleMention);
        }
        for other in order {
            self.add(other, Rule::RoleMentionOther);
        }
    }

    fn may_be_told(&self, member: MemberKey) -> bool {
        member != self.said.author.key
            && self.room.roster().contains_key(&member)
            && !self.told.iter().any(|t| t.member == member)
            && self.people.directory.member(member).is_some_and(|m| !m.removed)
            && !self.people.directory.is_stand_in(member)
    }

    fn add(&mut self, member: MemberKey, rule: Rule) {
        if !self.may_be_told(member) {
            return;
        }
        let rule = self.unless_left(member, rule);
        let decision = self.decision(member, rule);
        let of_its_own = decision.mode.tells()
            || decision.policy != Policy::MustNotRespond
            || matches!(rule, Rule::RoleMentionOther | Rule::Left | Rule::LeftOut);
        if of_its_own {
            self.told.push(Told { member, decision });
        }
    }

    /// A member who has left is not notified until it is named. A member who is asked to leave is
    /// notified of that.
    fn unless_left(&self, member: MemberKey, rule: Rule) -> Rule {
        use Rule::{AskedToLeave, Delivered, DirectMessage, Left, Mention, Recipient};
        let thread = self.said.thread.map(|t| t.key);
        match rule {
            Mention | Recipient | Delivered
                if self.said.leave && self.people.directory.is_agent(member) =>
            {
                AskedToLeave
            }
            DirectMessage
            | Mention
            | Recipient
            | Delivered
            | Rule::RoleMention
            | Rule::RoleMentionOther
            | Rule::LeftOut => rule,
            _ if self.room.has_left(member, thread) => Left,
            _ => rule,
        }
    }

    fn decision(&self, member: MemberKey, rule: Rule) -> Decision {
        let said = self.said;
        let participates = said.thread.is_some_and(|t| t.participants.contains(&member));
        let mut decision = policy::decide(
            directedness(rule),
            said.intent,
            &Circumstances {
                rule,
                thread_is_mine: self.is_mine(member),
                urgent: said.urgent,
                author_is_agent: said.by_agent,
                hop: said.hop,
                participates,
                follows: self.room.listeners().contains(&member),
                member_is_agent: self.people.directory.is_agent(member),
                first_words: greeting::is_addressed(rule)
                    && greeting::are(self.room, self.people.directory, said, member),
            },
        );
        lower(&mut decision, said.stated);
        decision
    }

    /// Whether the timeline belongs to the member: its thread, a message to it alone, or an answer
    /// to its last message.
    fn is_mine(&self, member: MemberKey) -> bool {
        self.room.conversation().kind == ConversationKind::Dm
            || self.said.thread.is_some_and(|t| t.owner == Some(member))
            || self.said.replied_to == Some(member)
            || self.said.before.is_some_and(|b| b.author == member)
    }
}

impl People<'_> {
    /// Prefers agents over people, then online, then away, then paused; then idle, then least
    /// recently granted, then by id. These are preferences, not filters.
    pub fn preference(&self, member: MemberKey) -> (bool, bool, bool, usize, Timestamp, MemberKey) {
        let person = !self.directory.is_agent(member);
        let paused = self.directory.is_paused(member);
        let offline = self.directory.connected(member).is_empty();
        let running = self.running.get(&member).copied().unwrap_or(0);
        let granted = self.granted.get(&member).copied().unwrap_or_default();
        (person, paused, offline, running, granted, member)
    }
}

fn directedness(rule: Rule) -> Directedness {
    match rule {
        Rule::DirectMessage
        | Rule::Recipient
        | Rule::Delivered
        | Rule::Mention
        | Rule::AnswerToQuestion
        | Rule::Reply
        | Rule::ThreadOfTwo
        | Rule::Continuation
        | Rule::Flow
        | Rule::EditedAfterResponse
        | Rule::Reaction
        | Rule::AskedToLeave
        | Rule::Escalated => Directedness::ToMe,
        Rule::RoleMention
        | Rule::RoleMentionOther
        | Rule::ThreadOwner
        | Rule::StreamOwner
        | Rule::ThreadParticipant
        | Rule::FlowLikely
        | Rule::FlowPerhaps
        | Rule::Claimed
        | Rule::HopLimit
        | Rule::BudgetSpent => Directedness::ToMyRole,
        Rule::RepliedToOther | Rule::NamedOther | Rule::LeftOut => Directedness::ToOther,
        Rule::AskedOne
        | Rule::AlwaysListen
        | Rule::Unaddressed
        | Rule::AnswerToAck
        | Rule::Left => Directedness::Ambient,
    }
}

/// The sender states that nobody in particular is meant.
fn says_nobody(stated: Option<Directedness>) -> bool {
    matches!(stated, Some(Directedness::Ambient | Directedness::ToOther))
}

/// Removes the obligation if the sender states that nobody in particular is meant.
fn lower(decision: &mut Decision, stated: Option<Directedness>) {
    if says_nobody(stated) && decision.policy == Policy::MustRespond {
        decision.policy = Policy::MayRespond;
        decision.mode = Mode::Notify;
        decision.deadline_ms = None;
    }
}
