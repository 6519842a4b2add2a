//! Whether the other side is still there. A broken network says nothing by itself: a connection may be open
//! on this side long after it is gone on the other.

use std::time::Duration;

use tokio::time::Instant;

/// Silence after which we ask.
const ASK: Duration = Duration::from_secs(25);
/// Silence after which the connection is taken for dead: the host pings every 20 s.
const DEAD: Duration = Duration::from_secs(60);
/// How often to look.
pub(super) const LOOK: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Alive,
    /// A ping is due.
    Ask,
    Dead,
}

pub(super) struct Life {
    heard: Instant,
    asked: bool,
}

impl Life {
    pub(super) fn new(now: Instant) -> Self {
        Self { heard: now, asked: false }
    }

    /// A frame of any kind came.
    pub(super) fn heard(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(super) fn look(&mut self, now: Instant) -> Verdict {
        let silence = now.duration_since(self.heard);
        if silence >= DEAD {
            return Verdict::Dead;
        }
        if silence >= ASK && !self.asked {
            self.asked = true;
            return Verdict::Ask;
        }
        Verdict::Alive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_asked_about_once_and_then_is_death() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut life = Life::new(start);
        assert_eq!(life.look(at(24)), Verdict::Alive);
        assert_eq!(life.look(at(25)), Verdict::Ask);
        assert_eq!(life.look(at(30)), Verdict::Alive);
        assert_eq!(life.look(at(59)), Verdict::Alive);
        assert_eq!(life.look(at(60)), Verdict::Dead);
        life.heard(at(60));
        assert_eq!(life.look(at(84)), Verdict::Alive);
        assert_eq!(life.look(at(85)), Verdict::Ask);
    }
}
