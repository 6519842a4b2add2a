//! What the talk says about one candidate addressee and about the author, and the signals derived
//! from it.
//!
//! Lines are counted back from the message, which is line 0.

use crate::language::features::{Features, Passing, WORDS};
use crate::model::flow::weights::{SIGNS, Sign};
use crate::model::ids::{MemberKey, Timestamp};
use crate::state::talk::Utterance;

type Line<'a> = (usize, &'a Utterance);

/// At most this many people are weighed: those who spoke or were addressed last. "Nobody" is one
/// more candidate.
pub const CANDIDATES: usize = 16;

/// What the talk says about one candidate.
#[derive(Clone, Copy, Default)]
pub(super) struct Candidate<'a> {
    pub(super) member: MemberKey,
    last: Option<Line<'a>>,
    to_me: Option<Line<'a>>,
    from_me: Option<Line<'a>>,
    /// The member they addressed last.
    last_to: Option<MemberKey>,
    exchanges: u8,
    to_others: u8,
    said: u8,
    /// How many lines they wrote since the author's last.
    since: u8,
    /// How many lines were addressed to them, by anybody.
    addressed: u8,
    /// How far back their first line is.
    first: usize,
    /// They asked something or wanted help.
    asked: bool,
    /// Words of the message that occur in their talk, one bit each.
    shared: u32,
    /// Words of the message that occur in their last line.
    shared_last: u32,
}

/// What the talk says about the author.
#[derive(Clone, Copy, Default)]
pub(super) struct AuthorHistory<'a> {
    pub(super) last: Option<Line<'a>>,
    /// The newest message addressed to the author.
    addressed: Option<Line<'a>>,
    /// The first member who addressed the author since the author's last line.
    first_since: Option<MemberKey>,
    /// Lines of others since the author's last line.
    others_since: u8,
    to_others: [(MemberKey, u8); CANDIDATES],
    to: u8,
    /// The member the author addressed last.
    partner: Option<MemberKey>,
    /// The line immediately before.
    before: Option<&'a Utterance>,
    /// Words of the message that the author has said before, one bit each.
    shared: u32,
    /// In how many lines each word of the message occurs.
    frequency: [u8; WORDS],
}

impl<'a> AuthorHistory<'a> {
    pub(super) fn hear(&mut self, back: usize, said: &'a Utterance, me: MemberKey, shared: u32) {
        self.before = self.before.or(Some(said));
        let mut bits = shared;
        while bits != 0 {
            self.frequency[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
        if said.to == Some(me) {
            self.addressed = self.addressed.or(Some((back, said)));
            if self.last.is_none() {
                self.first_since = Some(said.author);
            }
        }
        if said.author != me {
            self.others_since += u8::from(self.last.is_none());
            return;
        }
        self.shared |= shared;
        self.last = self.last.or(Some((back, said)));
        let Some(to) = said.to else { return };
        self.partner = self.partner.or(Some(to));
        self.to = self.to.saturating_add(1);
        if let Some(slot) = self.to_others.iter_mut().find(|s| s.1 == 0 || s.0 == to) {
            *slot = (to, slot.1.saturating_add(1));
        }
    }

    fn said_to(&self, member: MemberKey) -> u8 {
        self.to_others.iter().find(|s| s.0 == member).map_or(0, |s| s.1)
    }

    /// The weight of these words: a word that occurs in this line only weighs most.
    fn rarity(&self, words: u32) -> f32 {
        let words = (0..WORDS).filter(|n| words >> n & 1 == 1);
        words.map(|n| 1.0 / f32::from(1 + self.frequency[n])).sum::<f32>().min(1.5)
    }
}

impl<'a> Candidate<'a> {
    /// `since`: the author has not spoken after this line.
    pub(super) fn hear(
        &mut self,
        back: usize,
        said: &'a Utterance,
        me: MemberKey,
        shared: u32,
        since: bool,
    ) {
        if said.author == self.member {
            if self.last.is_none() {
                self.last = Some((back, said));
                self.shared_last = shared;
            }
            self.shared |= shared;
            self.said += 1;
            self.since += u8::from(since);
            self.first = back;
            self.asked |= said.heard.asks || said.heard.wants_help;
            self.last_to = self.last_to.or(said.to);
            if said.to == Some(me) {
                self.to_me = self.to_me.or(Some((back, said)));
                self.exchanges += 1;
            } else if said.to.is_some() {
                self.to_others += 1;
            }
        } else if said.to == Some(self.member) {
            self.addressed += 1;
            if said.author == me {
                self.from_me = self.from_me.or(Some((back, said)));
                self.exchanges += 1;
            } else {
                self.shared |= shared;
            }
        }
    }

    pub(super) fn signs(
        &self,
        heard: &Features,
        mine: &AuthorHistory<'_>,
        now: Timestamp,
        passing: Passing,
    ) -> [f32; SIGNS] {
        let mut signs = [0.0; SIGNS];
        self.of_their_last(&mut signs, heard, mine, now);
        self.of_exchange(&mut signs, heard, mine, now);
        let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
        set(Sign::BothWays, when(self.to_me.is_some() && self.from_me.is_some()));
        set(Sign::Exchanges, part(self.exchanges, 8));
        set(Sign::MineToOthers, part(mine.to.saturating_sub(mine.said_to(self.member)), 6));
        set(Sign::TheirsToOthers, part(self.to_others, 6));
        let they = Some(self.member);
        let with_mine = mine.partner.is_some() && self.last_to == mine.partner;
        set(Sign::SharesPartner, when(with_mine && self.last_to != they));
        set(Sign::BeforeToThem, when(mine.before.is_some_and(|before| before.to == they)));
        set(Sign::Named, when(passing != Passing::Not));
        set(Sign::NamedLast, when(passing == Passing::Last));
        let shared = self.shared.count_ones();
        set(Sign::SharesOne, when(shared >= 1));
        set(Sign::SharesTwo, when(shared >= 2));
        set(Sign::SharesPart, shared as f32 / heard.kept().max(1) as f32);
        set(Sign::SharesLast, when(self.shared_last != 0));
        set(Sign::SharesLastRarely, mine.rarity(self.shared_last));
        set(Sign::Second, when(heard.second_person));
        set(Sign::AsksThem, when(heard.asks));
        set(Sign::Stranger, when(mine.last.is_none() && mine.addressed.is_none()));
        set(Sign::ToAllThem, when(heard.to_all));
        set(Sign::GreetsThem, when(heard.greets));
        signs
    }

    fn of_their_last(
        &self,
        signs: &mut [f32; SIGNS],
        heard: &Features,
        mine: &AuthorHistory<'_>,
        now: Timestamp,
    ) {
        let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
        let Some((back, said)) = self.last else {
            set(Sign::Silent, 1.0);
            return;
        };
        set(Sign::SpokeAge, age(now, said.at));
        set(Sign::SpokeLines, lines(back));
        set(Sign::SpokeAsks, when(said.heard.asks));
        set(Sign::JustNow, when(now.since(said.at) < WORD_MS * i64::from(heard.length)));
        let open = said.heard.asks && said.to.is_none();
        set(Sign::OpenQuestion, when(open));
        set(Sign::OpenQuestionLines, if open { lines(back) } else { 0.0 });
        let to_me = self.to_me.is_some_and(|(at, _)| at == back);
        let to_other = said.to.is_some() && !to_me;
        set(Sign::SpokeToOther, when(to_other));
        let since = mine.last.is_some() && self.since > 0;
        set(Sign::SpokeSince, when(since));
        set(Sign::OnlySince, when(since && self.since == mine.others_since));
        set(Sign::LinesSince, part(self.since, 4));
        let ignored = self.addressed == 0;
        set(Sign::NotAddressed, when(ignored));
        set(Sign::NotAddressedLines, if ignored { lines(self.first) } else { 0.0 });
        set(Sign::Monologue, when(ignored && self.said > 2));
        set(Sign::AdvisesAsker, when(self.asked && heard.advises));
        set(Sign::GreetsBack, when(said.heard.greets && heard.greets));
        if back == 1 {
            set(Sign::Before, 1.0);
            set(Sign::BeforeToOther, when(to_other));
            set(Sign::BeforeAssent, when(heard.assents));
            set(Sign::BeforeGoesOn, when(heard.goes_on));
            set(Sign::BeforeShort, when(heard.length <= 3));
            set(Sign::BeforeNew, when(mine.last.is_none()));
        }
    }

    fn of_exchange(
        &self,
        signs: &mut [f32; SIGNS],
        heard: &Features,
        mine: &AuthorHistory<'_>,
        now: Timestamp,
    ) {
        let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
        if let Some((back, said)) = self.to_me {
            set(Sign::ToMe, 1.0);
            set(Sign::ToMeSure, said.sure);
            set(Sign::ToMeAge, age(now, said.at));
            set(Sign::ToMeLines, lines(back));
            set(Sign::ToMeLatest, when(mine.addressed.is_some_and(|(at, _)| at == back)));
            set(Sign::ToMeNamed, when(said.named));
            set(Sign::ToMeTheirLast, when(self.last.is_some_and(|(at, _)| at == back)));
            if mine.last.is_none_or(|(at, _)| at > back) {
                set(Sign::UnansweredAsks, when(said.heard.asks));
                set(Sign::UnansweredNamed, when(said.named));
                set(Sign::UnansweredFirst, when(mine.first_since == Some(self.member)));
            }
            set(Sign::AssentToMe, when(heard.assents));
            set(Sign::ThanksToMe, when(heard.thanks));
        } else {
            set(Sign::ThanksNotToMe, when(heard.thanks));
        }
        let Some((back, said)) = self.from_me else { return };
        set(Sign::FromMe, 1.0);
        set(Sign::FromMeSure, said.sure);
        set(Sign::FromMeAge, age(now, said.at));
        set(Sign::FromMeLines, lines(back));
        if mine.last.is_some_and(|(at, _)| at == back) {
            set(Sign::GoesOn, 1.0);
            set(Sign::GoesOnSure, said.sure);
            set(Sign::GoesOnAge, age(now, said.at));
            set(Sign::GoesOnLines, lines(back));
            set(Sign::GoesOnNamed, when(said.named));
        }
    }
}

pub(super) fn of_nobody(
    heard: &Features,
    mine: &AuthorHistory<'_>,
    now: Timestamp,
) -> [f32; SIGNS] {
    let mut signs = [0.0; SIGNS];
    let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
    set(Sign::NobodyAtAll, 1.0);
    set(Sign::NobodyAsks, when(heard.asks));
    set(Sign::NobodyLong, when(heard.length > 12));
    set(Sign::NobodyShort, when(heard.length <= 3));
    set(Sign::NobodyHelp, when(heard.wants_help));
    set(Sign::NobodyFirstPerson, when(heard.first_person));
    set(Sign::NobodyToAll, when(heard.to_all));
    set(Sign::NobodySecond, when(heard.second_person));
    set(Sign::NobodyGreets, when(heard.greets));
    set(Sign::NobodyAssents, when(heard.assents));
    set(Sign::NobodyOthersSince, part(mine.others_since, 16));
    set(Sign::NobodyOwnSubject, part(mine.shared.count_ones() as u8, 3));
    match mine.last {
        None => {
            set(Sign::NobodyNew, 1.0);
            set(Sign::NobodyNewAsks, when(heard.asks));
            set(Sign::NobodyNewGreets, when(heard.greets));
            set(Sign::NobodyNewToAll, when(heard.to_all));
        }
        Some((_, said)) if said.to.is_none() => {
            set(Sign::NobodyBefore, 1.0);
            set(Sign::NobodyBeforeAge, age(now, said.at));
            set(Sign::NobodyBeforeAddressed, when(mine.first_since.is_some()));
        }
        Some(_) => {}
    }
    set(Sign::NobodyAddressed, when(mine.addressed.is_some()));
    signs
}

/// Nobody types a word faster than this.
const WORD_MS: i64 = 400;

fn when(on: bool) -> f32 {
    if on { 1.0 } else { 0.0 }
}

/// 0 for none, 1 for `most` or more.
fn part(n: u8, most: u8) -> f32 {
    f32::from(n.min(most)) / f32::from(most)
}

/// 0 for now, 1 for two hours or more, logarithmic in between.
fn age(now: Timestamp, then: Timestamp) -> f32 {
    let seconds = now.since(then) as f32 / 1_000.0;
    ((1.0 + seconds / 15.0).ln() / 6.18).min(1.0)
}

/// 0 for the line before, 1 for the 64th or earlier, logarithmic in between.
fn lines(back: usize) -> f32 {
    ((back as f32).ln() / 4.16).min(1.0)
}
