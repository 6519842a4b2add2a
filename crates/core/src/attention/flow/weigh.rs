//! Weighing: the signals of each candidate addressee.

use super::Saying;
use super::candidate::{AuthorHistory, CANDIDATES, Candidate, of_nobody};
use crate::model::flow::weights::{SIGNS, Sign};
use crate::model::flow::{Clue, Clues};
use crate::model::ids::MemberKey;
use crate::state::talk::Talk;

/// The signals of "nobody", at index 0, and of each candidate.
#[derive(Clone, Debug)]
pub struct Weighed {
    members: [MemberKey; CANDIDATES],
    signs: [[f32; SIGNS]; CANDIDATES + 1],
    count: usize,
}

/// Weighs everybody who took part in the timeline as the possible addressee.
/// [`crate::state::talk::Talk`] bounds the time; nothing is allocated.
pub fn weigh<'a>(
    talk: &Talk,
    saying: &Saying<'_>,
    off: Clues,
    handle: impl Fn(MemberKey) -> Option<&'a str>,
) -> Weighed {
    let heard = &saying.analysis.features;
    let mut known = [Candidate::default(); CANDIDATES];
    let mut count = 0;
    let mut mine = AuthorHistory::default();
    let line = talk.iter().rev().filter(|u| u.thread == saying.thread);
    for (back, said) in line.enumerate().map(|(n, said)| (n + 1, said)) {
        for member in [Some(said.author), said.to].into_iter().flatten() {
            let is_new = known[..count].iter().all(|k| k.member != member);
            if is_new && member != saying.author && count < CANDIDATES {
                known[count].member = member;
                count += 1;
            }
        }
        let shared = heard.shared(&said.heard);
        let since = mine.last.is_none();
        mine.hear(back, said, saying.author, shared);
        for known in &mut known[..count] {
            known.hear(back, said, saying.author, shared, since);
        }
    }
    let mut weighed = Weighed {
        members: [MemberKey::default(); CANDIDATES],
        signs: [[0.0; SIGNS]; CANDIDATES + 1],
        count: 0,
    };
    let (now, spoken) = (saying.at, &saying.analysis.spoken);
    weighed.signs[0] = of_nobody(heard, &mine, now);
    for known in &known[..count] {
        let Some(handle) = handle(known.member) else { continue };
        weighed.members[weighed.count] = known.member;
        let passing = spoken.names(handle);
        weighed.signs[weighed.count + 1] = known.signs(heard, &mine, now, passing);
        weighed.count += 1;
    }
    weighed.silence(off);
    weighed
}

impl Weighed {
    /// "Nobody" at 0, then the candidates.
    pub fn member(&self, at: usize) -> Option<MemberKey> {
        self.members[..self.count].get(at.checked_sub(1)?).copied()
    }

    /// The signals of "nobody", then those of each candidate.
    pub fn signs(&self) -> &[[f32; SIGNS]] {
        &self.signs[..=self.count]
    }

    /// The log-odds of each.
    pub fn scores<'a>(&'a self, weights: &'a [f32; SIGNS]) -> impl Iterator<Item = f32> + 'a {
        self.signs().iter().map(move |signs| signs.iter().zip(weights).map(|(s, w)| s * w).sum())
    }

    /// The rules that favour this candidate over "nobody", and the rules that favour "nobody".
    pub(super) fn reasons(&self, at: usize, weights: &[f32; SIGNS], least: f32) -> (Clues, Clues) {
        let mut added = [0.0; Clue::ALL.len()];
        for sign in Sign::ALL {
            let n = sign as usize;
            added[sign.clue() as usize] += (self.signs[at][n] - self.signs[0][n]) * weights[n];
        }
        let of = |speaks: &dyn Fn(f32) -> bool| {
            let clues = Clue::ALL.into_iter().filter(|clue| speaks(added[*clue as usize]));
            clues.fold(Clues::NONE, Clues::with)
        };
        (of(&|added| added >= least), of(&|added| added <= -least))
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
