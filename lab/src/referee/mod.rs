//! The referee: a client of the release binary that knows what must be true, and looks whether it is.
//!
//! It speaks the public transports alone (HTTP, server-sent events, C2A over WebSocket and POST, and `chorus join`), and what it
//! holds true is of the pages of `spec/`, listed in [`rules`]. Two things go on at once: *scenes*, small plays that each try a rule or two with chance
//! in how they go, many at a time in one house; and the *free drive*, in which people and agents of all tempers do what they like
//! while their host is killed and started again. A seed repeats the plan; what the machine makes of it is its own.
//!
//! Time is real here. A scene waits for what should happen, with a limit to which it adds what the machine itself was late
//! ([`pulse`]), so that a busy machine is no finding.

mod agent;
mod apart;
mod drive;
mod house;
mod ledger;
mod model;
mod pulse;
mod report;
pub mod rules;
mod scenes;
mod time;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::crash::chance::Chance;
use house::{House, on_this_thread};
pub use ledger::Finding;
use ledger::{Ledger, Wrong};
use pulse::Pulse;
pub use report::Report;
pub use rules::Rule;
use scenes::{Scene, Script};

/// Scenes that play at once, beside those that mostly wait.
const AT_ONCE: usize = 5;
/// What takes longer mostly waits, and is begun at once.
const LONG: u64 = 60;

#[derive(Clone, Debug)]
pub struct Plan {
    pub chorus: PathBuf,
    /// How long it goes on. Scenes that have begun are played to their end, and the verdict comes on top.
    pub time: Duration,
    pub seed: u64,
    /// An empty folder, for the hosts' data and the agents' journals.
    pub folder: PathBuf,
    /// Only scenes whose names contain this, again and again, and no free drive.
    pub only: Option<String>,
}

/// Referees.
///
/// # Errors
/// What kept it from beginning: a host that does not start.
pub fn run(plan: &Plan) -> Result<Report, String> {
    let began = Instant::now();
    let mut chance = Chance::new(plan.seed);
    let stadium = Stadium {
        plan: plan.clone(),
        ledger: Arc::new(Ledger::new()),
        pulse: Pulse::start(),
        houses: apart::two(open(plan, "scenes", &mut chance)?)?,
        until: began + plan.time,
        played: AtomicUsize::new(0),
    };
    let driven = match plan.only {
        None => Some((open(plan, "drive", &mut chance)?, chance.split())),
        Some(_) => None,
    };
    let wanted: Vec<_> = scenes::ALL.iter().filter(|script| stadium.wants(script)).collect();
    let (long, short): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|script| script.seconds > LONG);
    // Each plays on a thread of its own: one that starts a host holds nobody else up.
    let all = &stadium;
    std::thread::scope(|scope| {
        if let Some((house, chance)) = driven {
            scope.spawn(move || all.drive(house, chance));
        }
        for script in long {
            let chance = chance.split();
            scope.spawn(move || all.long(script, chance));
        }
        let program = Arc::new(Mutex::new(Program { short, left: Vec::new(), chance }));
        for _ in 0..AT_ONCE {
            let program = program.clone();
            scope.spawn(move || all.play_on(program));
        }
    });
    stadium.ledger.judge(rules::APART, "scenes", apart::verdict(&stadium.houses));
    for house in &stadium.houses {
        let sound = house.doctor();
        let sound = sound.map_err(|found| Wrong::new("the doctor finds nothing", found, &[]));
        stadium.ledger.judge(rules::SOUND, "scenes", sound);
    }
    let (notes, scenes) = (stadium.ledger.taken(), stadium.played.load(Ordering::SeqCst));
    Ok(Report { seed: plan.seed, took: began.elapsed(), scenes, notes })
}

fn open(plan: &Plan, name: &str, chance: &mut Chance) -> Result<House, String> {
    House::open(&plan.folder.join(name), &plan.chorus, &[], chance)
}

/// What is still to be played, drawn without putting back until all was played; then from the beginning.
struct Program {
    short: Vec<&'static Script>,
    left: Vec<&'static Script>,
    chance: Chance,
}

impl Program {
    fn next(&mut self, time: Duration) -> Option<(&'static Script, Chance)> {
        if self.left.is_empty() {
            self.left.clone_from(&self.short);
        }
        let fits = |script: &&&Script| Duration::from_secs(script.seconds) <= time;
        let fitting: Vec<_> = self.left.iter().filter(fits).copied().collect();
        if fitting.is_empty() {
            self.left.clear();
            return None;
        }
        let next = fitting[self.chance.index(fitting.len())];
        self.left.retain(|script| script.name != next.name);
        Some((next, self.chance.split()))
    }
}

/// What all scenes share.
struct Stadium {
    plan: Plan,
    ledger: Arc<Ledger>,
    pulse: Pulse,
    /// The host's own workspace, and one beside it.
    houses: [House; 2],
    until: Instant,
    played: AtomicUsize,
}

impl Stadium {
    fn wants(&self, script: &Script) -> bool {
        self.plan.only.as_ref().is_none_or(|only| script.name.contains(only.as_str()))
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn drive(&self, house: House, chance: Chance) {
        let (ledger, pulse) = (self.ledger.clone(), self.pulse.clone());
        let driven =
            on_this_thread(drive::drive(Arc::new(house), ledger, pulse, chance, self.until));
        if let Err(why) = driven {
            self.ledger.unclear("free drive", &why);
        }
    }

    fn play_on(&self, program: Arc<Mutex<Program>>) {
        loop {
            let next = program.lock().unwrap_or_else(PoisonError::into_inner).next(self.left());
            let Some((script, chance)) = next else { return };
            self.play(script, chance);
        }
    }

    /// A long scene, as often as there is time.
    fn long(&self, script: &'static Script, mut chance: Chance) {
        while self.left() >= Duration::from_secs(script.seconds) {
            self.play(script, chance.split());
        }
    }

    fn play(&self, script: &Script, mut chance: Chance) {
        let number = self.played.fetch_add(1, Ordering::SeqCst);
        let house = match script.kills {
            false => self.houses[number % 2].again(),
            true => open(&self.plan, &format!("{number}"), &mut chance),
        };
        let played = house.and_then(|house| {
            let (ledger, pulse) = (self.ledger.clone(), self.pulse.clone());
            let mut scene = Scene::new(house, chance, ledger, pulse, script.name);
            on_this_thread((script.play)(&mut scene))
        });
        if let Err(why) = played {
            self.ledger.unclear(script.name, &why);
        }
    }
}
