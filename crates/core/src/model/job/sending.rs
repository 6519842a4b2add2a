//! Something on its way to an address that somebody else chose: posted until it is taken.

use std::sync::Arc;

use crate::model::ids::Timestamp;
use crate::model::limits;

/// How posting gets on. The default is: nothing to post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Posts that were begun.
    pub attempts: u16,
    /// When the next begins, unless this one ends well.
    pub next_at: Option<Timestamp>,
    /// When it was taken.
    pub taken_at: Option<Timestamp>,
    /// Why the last one failed.
    pub failure: Option<Arc<str>>,
    /// Nothing is posted any more, though it was not taken.
    pub given_up: bool,
}

/// How one post ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// Any 2xx.
    Taken,
    /// It will not be taken, now or later.
    Refused(Arc<str>),
    /// It may be taken another time, at the earliest after so many milliseconds.
    Again(Arc<str>, Option<i64>),
}

impl Sending {
    /// The first post, which begins now.
    pub fn begun(now: Timestamp) -> Self {
        Self { attempts: 1, next_at: Some(now.plus(limits::JOB_SEND_LEASE_MS)), ..Self::default() }
    }

    pub fn is_done(&self) -> bool {
        self.taken_at.is_some() || self.given_up
    }

    /// The next post, which begins now.
    pub fn begin_again(&mut self, now: Timestamp) {
        self.attempts = self.attempts.saturating_add(1);
        self.next_at = Some(now.plus(limits::JOB_SEND_LEASE_MS));
    }

    /// After the post with this number. What an earlier one says does not put off a later one.
    pub fn note(&mut self, attempt: u16, posted: &Posted, now: Timestamp) {
        match posted {
            Posted::Taken => {
                self.taken_at = self.taken_at.or(Some(now));
                (self.next_at, self.failure) = (None, None);
            }
            Posted::Refused(why) => {
                self.failure = Some(why.clone());
                (self.next_at, self.given_up) = (None, true);
            }
            Posted::Again(why, after) if attempt == self.attempts => {
                self.failure = Some(why.clone());
                let doubled = limits::JOB_RETRY_MS << u32::from(attempt.saturating_sub(1).min(20));
                let wait = after.unwrap_or(0).max(doubled).min(limits::JOB_RETRY_MOST_MS);
                self.next_at = Some(now.plus(wait));
            }
            Posted::Again(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn posts_are_repeated_ever_more_slowly_until_one_is_taken() {
        let mut sending = Sending::begun(Timestamp(0));
        let again = || Posted::Again("HTTP 503".into(), None);
        sending.note(1, &again(), Timestamp(5));
        assert_eq!(sending.next_at, Some(Timestamp(1_005)));
        sending.begin_again(Timestamp(1_005));
        sending.note(1, &again(), Timestamp(1_006));
        assert_eq!(sending.next_at.unwrap().since(Timestamp(1_005)), limits::JOB_SEND_LEASE_MS);
        sending.note(2, &Posted::Again("429".into(), Some(60_000)), Timestamp(2_000));
        assert_eq!(sending.next_at, Some(Timestamp(62_000)));
        sending.note(1, &Posted::Taken, Timestamp(3_000));
        assert!(sending.is_done() && sending.next_at.is_none() && sending.failure.is_none());
    }
}
