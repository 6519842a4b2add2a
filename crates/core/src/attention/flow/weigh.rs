//! Weighing: what is known of each who may be meant, as signs.

use super::heard::{Heard, Passing, Spoken};
use super::signs::{Clue, Clues};
use super::weights::{SIGNS, Sign};
use super::{Saying, Talk, Utterance};
use crate::ids::{MemberKey, Timestamp};

/// So many people are weighed at most, those who spoke or were addressed last; nobody is one more.
pub const CANDIDATES: usize = 16;

/// Signs of nobody, at 0, and of each candidate.
#[derive(Clone, Debug)]
pub struct Weighed {
    members: [MemberKey; CANDIDATES],
    signs: [[f32; SIGNS]; CANDIDATES + 1],
    count: usize,
}

/// What the talk says of one candidate; lines are counted back from the message, which is 0.
#[derive(Clone, Copy, Default)]
struct Known<'a> {
    member: MemberKey,
    last: Option<(usize, &'a Utterance)>,
    to_me: Option<(usize, &'a Utterance)>,
    from_me: Option<(usize, &'a Utterance)>,
    exchanges: u8,
    to_others: u8,
    /// Words of the message that stand in their talk, one bit each.
    shared: u32,
}

/// What the talk says of the author.
#[derive(Clone, Copy, Default)]
struct Mine<'a> {
    last: Option<(usize, &'a Utterance)>,
    /// The newest message to me.
    addressed: Option<(usize, &'a Utterance)>,
    /// The first who addressed me since I spoke, and whether others did too.
    first_since: Option<MemberKey>,
    several_since: bool,
    to_others: [(MemberKey, u8); CANDIDATES],
    to: u8,
}

/// Everybody who took part in the line, weighed as the one who is meant. Time is bounded by [`super::Talk`]; nothing
/// is allocated.
pub fn weigh<'a>(
    talk: &Talk,
    saying: &Saying<'_>,
    off: Clues,
    handle: impl Fn(MemberKey) -> Option<&'a str>,
) -> Weighed {
    let heard = Heard::of(saying.text);
    let mut known = [Known::default(); CANDIDATES];
    let mut count = 0;
    let mut mine = Mine::default();
    let line = talk.iter().rev().filter(|u| u.thread == saying.thread);
    for (back, said) in line.enumerate().map(|(n, said)| (n + 1, said)) {
        mine.hear(back, said, saying.author);
        for member in [Some(said.author), said.to].into_iter().flatten() {
            let is_new = known[..count].iter().all(|k| k.member != member);
            if is_new && member != saying.author && count < CANDIDATES {
                known[count].member = member;
                count += 1;
            }
        }
        let shared = heard.shared(&said.heard);
        for known in &mut known[..count] {
            known.hear(back, said, saying.author, shared);
        }
    }
    let mut weighed = Weighed {
        members: [MemberKey::default(); CANDIDATES],
        signs: [[0.0; SIGNS]; CANDIDATES + 1],
        count: 0,
    };
    let (now, spoken) = (saying.at, Spoken::of(saying.text));
    weighed.signs[0] = of_nobody(&heard, &mine, now);
    for known in &known[..count] {
        let Some(handle) = handle(known.member) else { continue };
        weighed.members[weighed.count] = known.member;
        let passing = spoken.names(handle);
        weighed.signs[weighed.count + 1] = known.signs(&heard, &mine, now, passing);
        weighed.count += 1;
    }
    weighed.silence(off);
    weighed
}

impl Weighed {
    /// Nobody at 0, then the candidates.
    pub fn member(&self, at: usize) -> Option<MemberKey> {
        self.members[..self.count].get(at.checked_sub(1)?).copied()
    }

    /// The signs of nobody, then those of each candidate.
    pub fn signs(&self) -> &[[f32; SIGNS]] {
        &self.signs[..=self.count]
    }

    /// The log-odds of each.
    pub fn scores<'a>(&'a self, weights: &'a [f32; SIGNS]) -> impl Iterator<Item = f32> + 'a {
        self.signs().iter().map(move |signs| signs.iter().zip(weights).map(|(s, w)| s * w).sum())
    }

    /// The rules that speak for one against nobody.
    pub(super) fn because(&self, at: usize, weights: &[f32; SIGNS], least: f32) -> Clues {
        let mut added = [0.0; Clue::ALL.len()];
        for sign in Sign::ALL {
            let n = sign as usize;
            added[sign.clue() as usize] += (self.signs[at][n] - self.signs[0][n]) * weights[n];
        }
        let speaks = |clue: &Clue| added[*clue as usize] >= least;
        Clue::ALL.into_iter().filter(speaks).fold(Clues::NONE, Clues::with)
    }

    fn silence(&mut self, off: Clues) {
        if off == Clues::NONE {
            return;
        }
        for sign in Sign::ALL.into_iter().filter(|sign| off.has(sign.clue())) {
            self.signs.iter_mut().for_each(|signs| signs[sign as usize] = 0.0);
        }
    }
}

impl<'a> Mine<'a> {
    fn hear(&mut self, back: usize, said: &'a Utterance, me: MemberKey) {
        if said.to == Some(me) {
            self.addressed = self.addressed.or(Some((back, said)));
            if self.last.is_none() {
                self.several_since |= self.first_since.is_some_and(|first| first != said.author);
                self.first_since = Some(said.author);
            }
        }
        if said.author == me {
            self.last = self.last.or(Some((back, said)));
            let Some(to) = said.to else { return };
            self.to = self.to.saturating_add(1);
            if let Some(slot) = self.to_others.iter_mut().find(|s| s.1 == 0 || s.0 == to) {
                *slot = (to, slot.1.saturating_add(1));
            }
        }
    }

    fn said_to(&self, member: MemberKey) -> u8 {
        self.to_others.iter().find(|s| s.0 == member).map_or(0, |s| s.1)
    }
}

impl<'a> Known<'a> {
    fn hear(&mut self, back: usize, said: &'a Utterance, me: MemberKey, shared: u32) {
        if said.author == self.member {
            self.last = self.last.or(Some((back, said)));
            self.shared |= shared;
            if said.to == Some(me) {
                self.to_me = self.to_me.or(Some((back, said)));
                self.exchanges = self.exchanges.saturating_add(1);
            } else if said.to.is_some() {
                self.to_others = self.to_others.saturating_add(1);
            }
        } else if said.to == Some(self.member) {
            if said.author == me {
                self.from_me = self.from_me.or(Some((back, said)));
                self.exchanges = self.exchanges.saturating_add(1);
            } else {
                self.shared |= shared;
            }
        }
    }

    fn signs(
        &self,
        heard: &Heard,
        mine: &Mine<'_>,
        now: Timestamp,
        passing: Passing,
    ) -> [f32; SIGNS] {
        let mut signs = [0.0; SIGNS];
        let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
        let when = |on: bool| if on { 1.0 } else { 0.0 };
        match self.last {
            None => set(Sign::Silent, 1.0),
            Some((back, said)) => {
                set(Sign::SpokeAge, age(now, said.at));
                set(Sign::SpokeLines, lines(back));
                set(Sign::SpokeAsks, when(said.heard.asks));
                let open = said.heard.asks && said.to.is_none();
                set(Sign::OpenQuestion, when(open));
                set(Sign::OpenQuestionLines, if open { lines(back) } else { 0.0 });
                let to_me = self.to_me.is_some_and(|(at, _)| at == back);
                let to_other = said.to.is_some() && !to_me;
                set(Sign::SpokeToNobody, when(said.to.is_none()));
                set(Sign::SpokeToOther, when(to_other));
                if back == 1 {
                    set(Sign::Before, 1.0);
                    set(Sign::BeforeToOther, when(to_other));
                    set(Sign::BeforeAssent, when(heard.assents));
                    set(Sign::BeforeSecond, when(heard.second_person));
                    set(Sign::BeforeAsks, when(said.heard.asks));
                    set(Sign::BeforeShort, when(heard.length <= 3));
                    set(Sign::BeforeNew, when(mine.last.is_none()));
                    set(Sign::BeforeToNobody, when(said.to.is_none()));
                }
                set(Sign::GreetsBack, when(said.heard.greets && heard.greets));
            }
        }
        if let Some((back, said)) = self.to_me {
            set(Sign::ToMe, 1.0);
            set(Sign::ToMeAge, age(now, said.at));
            set(Sign::ToMeLines, lines(back));
            set(Sign::ToMeLatest, when(mine.addressed.is_some_and(|(at, _)| at == back)));
            set(Sign::ToMeNamed, when(said.named));
            set(Sign::ToMeTheirLast, when(self.last.is_some_and(|(at, _)| at == back)));
            if mine.last.is_none_or(|(at, _)| at > back) {
                set(Sign::Unanswered, 1.0);
                set(Sign::UnansweredOnly, when(!mine.several_since));
                set(Sign::UnansweredAsks, when(said.heard.asks));
                set(Sign::UnansweredNamed, when(said.named));
                set(Sign::UnansweredFirst, when(mine.first_since == Some(self.member)));
                set(Sign::UnansweredAssent, when(said.heard.asks && heard.assents));
            }
            set(Sign::AssentToMe, when(heard.assents));
            set(Sign::ThanksToMe, when(heard.thanks));
        } else {
            set(Sign::ThanksNotToMe, when(heard.thanks));
        }
        if let Some((back, said)) = self.from_me {
            set(Sign::FromMe, 1.0);
            set(Sign::FromMeAge, age(now, said.at));
            set(Sign::FromMeLines, lines(back));
            if mine.last.is_some_and(|(at, _)| at == back) {
                set(Sign::GoesOn, 1.0);
                set(Sign::GoesOnAge, age(now, said.at));
                set(Sign::GoesOnLines, lines(back));
                set(Sign::GoesOnAsks, when(heard.asks));
                set(Sign::GoesOnToAll, when(heard.to_all));
                set(Sign::GoesOnNamed, when(said.named));
            }
        }
        let part = |n: u8, most: u8| f32::from(n.min(most)) / f32::from(most);
        set(Sign::BothWays, when(self.to_me.is_some() && self.from_me.is_some()));
        set(Sign::Exchanges, part(self.exchanges, 8));
        set(Sign::MineToOthers, part(mine.to.saturating_sub(mine.said_to(self.member)), 6));
        set(Sign::TheirsToOthers, part(self.to_others, 6));
        set(Sign::Named, when(passing != Passing::Not));
        set(Sign::NamedLast, when(passing == Passing::Last));
        let shared = self.shared.count_ones();
        set(Sign::SharesOne, when(shared >= 1));
        set(Sign::SharesTwo, when(shared >= 2));
        set(Sign::SharesPart, shared as f32 / heard.kept().max(1) as f32);
        set(Sign::Second, when(heard.second_person));
        set(Sign::AsksThem, when(heard.asks));
        set(Sign::Stranger, when(mine.last.is_none() && mine.addressed.is_none()));
        set(Sign::ToAllThem, when(heard.to_all));
        set(Sign::GreetsThem, when(heard.greets));
        signs
    }
}

fn of_nobody(heard: &Heard, mine: &Mine<'_>, now: Timestamp) -> [f32; SIGNS] {
    let mut signs = [0.0; SIGNS];
    let mut set = |sign: Sign, value: f32| signs[sign as usize] = value;
    let when = |on: bool| if on { 1.0 } else { 0.0 };
    set(Sign::NobodyAtAll, 1.0);
    set(Sign::NobodyAsks, when(heard.asks));
    set(Sign::NobodyLong, when(heard.length > 12));
    set(Sign::NobodyShort, when(heard.length <= 3));
    set(Sign::NobodyHelp, when(heard.wants_help));
    set(Sign::NobodyToAll, when(heard.to_all));
    set(Sign::NobodySecond, when(heard.second_person));
    set(Sign::NobodyGreets, when(heard.greets));
    set(Sign::NobodyThanks, when(heard.thanks));
    set(Sign::NobodyAssents, when(heard.assents));
    match mine.last {
        None => {
            set(Sign::NobodyNew, 1.0);
            set(Sign::NobodyNewAsks, when(heard.asks));
            set(Sign::NobodyNewGreets, when(heard.greets));
            set(Sign::NobodyNewToAll, when(heard.to_all));
        }
        Some((back, said)) if said.to.is_none() => {
            set(Sign::NobodyBefore, 1.0);
            set(Sign::NobodyBeforeAge, age(now, said.at));
            set(Sign::NobodyBeforeLines, lines(back));
            set(Sign::NobodyBeforeAddressed, when(mine.first_since.is_some()));
        }
        Some((_, said)) => set(Sign::SomebodyBeforeAge, age(now, said.at)),
    }
    if let Some((_, said)) = mine.addressed {
        set(Sign::NobodyAddressed, 1.0);
        set(Sign::NobodyAddressedAge, age(now, said.at));
    }
    signs
}

/// 0 for now, 1 for two hours and more, by the logarithm between.
fn age(now: Timestamp, then: Timestamp) -> f32 {
    let seconds = now.since(then) as f32 / 1_000.0;
    ((1.0 + seconds / 15.0).ln() / 6.18).min(1.0)
}

/// 0 for the line before, 1 for the 64th and more, by the logarithm between.
fn lines(back: usize) -> f32 {
    ((back as f32).ln() / 4.16).min(1.0)
}
