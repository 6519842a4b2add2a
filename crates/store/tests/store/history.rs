//! Whatever people and agents do, and whenever the host stops, what is kept is in order.

use chorus_core::commands::messages::{self, Logged};
use chorus_core::commands::threads::{self, ThreadState};
use chorus_core::commands::{Command, conversations, deliveries, directory};
use chorus_core::model::attention::Directedness;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{Conversation, Participation};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::{Message, Reason};
use chorus_core::model::ids::{EventRef, MemberKey, Seq, SessionKey, Timestamp, Uid};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::{OpenThread, Post, SettingsPatch};
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::state::effect::Effect;

use crate::ground::{ADA, BOB, Ground, PERSON, as_crashed, by, doctor, person};

const STEPS: usize = 400;

#[test]
fn every_history_leaves_the_folder_in_order() {
    for seed in 1..=6 {
        let mut story = Story::begin(seed);
        for step in 0..STEPS {
            story.step();
            if step % 97 == 96 {
                story = story.restart(step % 2 == 0);
            }
        }
        story.ground.writer.stop();
        let report = doctor(story.folder.path());
        assert_eq!(report.problems, [], "seed {seed}");
        assert!(report.events > 100, "seed {seed}: {report:?}");
    }
}

struct Story {
    folder: tempfile::TempDir,
    ground: Ground,
    coin: u64,
    rooms: Vec<std::sync::Arc<Conversation>>,
    events: Vec<Uid>,
    threads: Vec<Uid>,
    sessions: Vec<(MemberKey, SessionKey)>,
    offers: Vec<(MemberKey, SessionKey, EventRef, Uid, u16)>,
}

/// One thing that is tried.
type Step = Box<dyn FnOnce(&mut Story)>;

fn gives<C: Command>(by: By, command: C) -> Step {
    Box::new(move |story| drop(story.give(by, command)))
}

fn logs<C: Command<Output = Logged>>(by: By, command: C) -> Step {
    Box::new(move |story| {
        let logged = story.give(by, command);
        story.events.extend(logged.map(|logged| logged.entry.event.uid));
    })
}

fn opens<C: Command<Output = ThreadState>>(by: By, command: C) -> Step {
    Box::new(move |story| {
        let state = story.give(by, command);
        story.threads.extend(state.map(|state| state.thread.uid));
    })
}

fn connects(by: By, command: directory::OpenSession) -> Step {
    Box::new(move |story| {
        let session = story.give(by, command);
        story.sessions.extend(session.map(|session| (session.member, session.key)));
    })
}

impl Story {
    fn begin(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ground = Ground::open(folder.path());
        let rooms = vec![ground.settle(), ground.channel("other")];
        let name = "crew".to_owned();
        ground.ask(person(), directory::AddRole { name }).unwrap();
        for member in [ADA, BOB] {
            let role = chorus_core::model::ids::RoleKey(1);
            ground.ask(person(), directory::SetRoleMember { role, member, on: true }).unwrap();
        }
        let (events, threads, sessions, offers) = Default::default();
        Self {
            folder,
            ground,
            coin: seed * 0x9e37_79b9 + 1,
            rooms,
            events,
            threads,
            sessions,
            offers,
        }
    }

    /// Stops and goes on; or goes on from what a crash would leave.
    fn restart(self, crash: bool) -> Self {
        let copy = crash.then(|| as_crashed(self.folder.path()));
        self.ground.writer.stop();
        let now = chorus_store::Clock::now(&*self.ground.clock).plus(700);
        drop(self.ground);
        let folder = copy.unwrap_or(self.folder);
        assert_eq!(doctor(folder.path()).problems, [], "crash: {crash}");
        let ground = Ground::at(folder.path(), Timestamp(now.0));
        Self { folder, ground, sessions: Vec::new(), offers: Vec::new(), ..self }
    }

    fn toss(&mut self, sides: usize) -> usize {
        self.coin ^= self.coin << 13;
        self.coin ^= self.coin >> 7;
        self.coin ^= self.coin << 17;
        (self.coin >> 11) as usize % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let n = self.toss(from.len().max(1));
        from.get(n).cloned()
    }

    /// Of the newest twenty, mostly.
    fn event(&mut self) -> Option<Uid> {
        let recent = self.events.len().saturating_sub(20);
        let from = if self.toss(4) == 0 { 0 } else { recent };
        let near = self.events[from..].to_vec();
        self.pick(&near)
    }

    fn step(&mut self) {
        self.collect();
        let agent = if self.toss(2) == 0 { ADA } else { BOB };
        if let Some(step) = self.draw(agent) {
            step(self);
        }
    }

    fn give<C: Command>(&mut self, by: By, command: C) -> Option<C::Output> {
        let name = command.name();
        match self.ground.ask(by, command) {
            Ok(output) => Some(output),
            Err(refusal) => {
                let broken = matches!(refusal.code, Code::Internal | Code::Unavailable);
                assert!(!broken, "{name}: {refusal}");
                None
            }
        }
    }

    /// The offers made since the last step.
    fn collect(&mut self) {
        for effect in self.ground.effects.lock().unwrap().drain(..) {
            if let Effect::Offer(offer) = effect {
                let event = &offer.entry.event;
                let at = EventRef { conversation: event.conversation, seq: event.seq };
                self.offers.push((offer.member, offer.session, at, event.uid, offer.attempt));
            }
        }
    }

    fn draw(&mut self, agent: MemberKey) -> Option<Step> {
        let session = self.sessions.iter().rev().find(|(m, _)| *m == agent).map(|(_, s)| *s);
        let worker = By { session, ..by(agent) };
        let rooms = self.rooms.clone();
        let room = self.pick(&rooms)?.uid;
        Some(match self.toss(24) {
            0..=6 => logs(person(), self.post(room)),
            7..=9 => logs(worker, self.post(room)),
            10 => {
                logs(person(), messages::Edit { message: self.event()?, content: self.message() })
            }
            11 if self.toss(3) == 0 => {
                let reason = self.pick(&Reason::ALL)?;
                gives(person(), messages::Erase { message: self.event()?, reason })
            }
            11 => logs(person(), messages::Delete { message: self.event()? }),
            12 | 13 => {
                let signal = self.pick(&Signal::ALL)?;
                let on = self.toss(3) > 0;
                let detail = (self.toss(2) == 0).then(|| "in words".into());
                gives(worker, messages::React { message: self.event()?, signal, detail, on })
            }
            14 => opens(person(), self.open_thread(room)),
            15 => {
                let threads = self.threads.clone();
                let status = self.pick(&ThreadStatus::ALL);
                let owner = (self.toss(2) == 0).then_some(Some(agent));
                let thread = self.pick(&threads)?;
                opens(
                    person(),
                    threads::ChangeThread {
                        thread,
                        status,
                        owner,
                        reason: "so".into(),
                        summary: None,
                        note: None,
                    },
                )
            }
            16 => gives(worker, deliveries::Claim { event: self.event()? }),
            17 => gives(worker, deliveries::Release { event: self.event()? }),
            18 => self.answer_offer()?,
            19 => {
                let disposition = self.pick(&Disposition::ALL)?;
                gives(worker, deliveries::Dispose { event: self.event()?, disposition, note: None })
            }
            20 => match session.filter(|_| self.toss(3) == 0) {
                Some(session) => {
                    self.sessions.retain(|(_, s)| *s != session);
                    gives(worker, directory::CloseSession { session })
                }
                None => {
                    let runtime = "test".to_owned();
                    let open =
                        directory::OpenSession { runtime, resumable: true, ..Default::default() };
                    connects(by(agent), open)
                }
            },
            21 => {
                let ms = [50, 900, 5_000, 70_000, 400_000][self.toss(5)];
                self.ground.pass(ms);
                gives(person(), deliveries::Redeliver { event: self.event()?, member: agent })
            }
            22 => match self.toss(3) {
                0 => {
                    gives(person(), conversations::RemoveSeat { conversation: room, member: agent })
                }
                1 => {
                    let settings =
                        SettingsPatch { purpose: Some("new".into()), ..Default::default() };
                    gives(
                        person(),
                        conversations::ChangeConversation { conversation: room, settings },
                    )
                }
                _ => {
                    let participation = self.pick(&Participation::ALL)?;
                    gives(
                        person(),
                        conversations::SetSeat {
                            conversation: room,
                            member: agent,
                            participation,
                            terms: Default::default(),
                        },
                    )
                }
            },
            _ => {
                let read = Seq(self.toss(40) as u64);
                gives(worker, conversations::SetCursor { conversation: room, read })
            }
        })
    }

    fn answer_offer(&mut self) -> Option<Step> {
        let offers = std::mem::take(&mut self.offers);
        let (member, session, event, uid, attempt) = self.pick(&offers)?;
        let by = By { session: Some(session), ..by(member) };
        Some(match self.toss(4) {
            0 => gives(by, deliveries::Reject { event, attempt }),
            1 => gives(by, deliveries::Retrieve { event: uid }),
            _ => gives(by, deliveries::Accept { event, attempt, epoch: None }),
        })
    }

    fn message(&mut self) -> Message {
        let names = ["@ada", "@bob", "@crew", "@ada @bob", "everybody", "@person"];
        let words =
            ["what is the time?", "thanks!", "please fix the build", "it is done", "urgent: stop"];
        let text = format!("{} {}", names[self.toss(6)], words[self.toss(5)]);
        Message { text: text.into(), ..Message::default() }
    }

    fn post(&mut self, conversation: Uid) -> Post {
        let threads = self.threads.clone();
        let thread = if self.toss(4) == 0 { self.pick(&threads) } else { None };
        let in_reply_to = if self.toss(3) == 0 { self.event() } else { None };
        let directedness = (self.toss(8) == 0).then_some(Directedness::Ambient);
        Post {
            conversation,
            thread,
            message: self.message(),
            in_reply_to,
            idempotency: None,
            recipient: None,
            mentions: Vec::new(),
            directedness,
            audience: Default::default(),
            left_out: Vec::new(),
        }
    }

    fn open_thread(&mut self, conversation: Uid) -> OpenThread {
        let root = if self.toss(2) == 0 { self.event() } else { None };
        let kinds = ThreadKind::ALL;
        OpenThread {
            home: conversation.into(),
            root,
            title: "work".into(),
            kind: kinds[self.toss(3)],
            owner: Some(ADA),
            participants: vec![PERSON, BOB],
            idempotency: None,
        }
    }
}
