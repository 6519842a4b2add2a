//! What endpoints that hang cost those that do not.
//!
//! At a steady rate somebody names nine healthy agents and one that, in half of the runs, takes the post and never answers. What is
//! measured is the time from the first byte of a message to its arrival at each of the nine, over the whole life of such neighbours: their
//! posts run into the time-out, which is a second here, are tried again, and the breaker lets them be.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::{JoinSet, LocalSet};

use super::agents::{self, Place, Seen};
use super::house::House;
use crate::bench::Plan;
use crate::bench::host::server::Hosts;
use crate::bench::load::{self, p99_us};
use crate::bench::report::Samples;

const ENDPOINTS: usize = 1_000;
const HANG: usize = 100;
/// Healthy agents that a message names, beside one of the others.
const NAMED: usize = 9;
const CHANNELS: usize = 4;
/// Messages a second, of which each has ten deliveries: about a tenth of what the host can.
const RATE: u64 = 100;
/// How long the hundred have hung before it is measured.
const RISING: Duration = Duration::from_millis(500);
/// How much longer than another measurement it takes: the time-out comes several times in it.
const LONGER: u32 = 4;
/// A healthy one has everything by then.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn round(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) {
    if !plan.wants_some("p99.") {
        return;
    }
    for (name, hang) in [("p99.none_hanging", 0), ("p99.hanging", HANG)] {
        samples.take(plan, name, &mut || {
            let place = Place::bind()?;
            let strings = place.strings(ENDPOINTS)?;
            let house = House::open(hosts, "timeout = \"1s\"", strings, CHANNELS)?;
            let measured = measure(place, house, plan.window * LONGER, hang);
            LocalSet::new().block_on(&load::runtime()?, measured)
        });
    }
}

/// The 99th percentile in milliseconds, of those who are healthy in either case.
async fn measure(place: Place, house: House, window: Duration, hang: usize) -> Result<f64, String> {
    let (house, seen) = (Rc::new(house), Rc::new(Seen::default()));
    agents::serve(place, seen.clone())?;
    let mut first = house.speaker(0).await?;
    let event = first.say(&house.channels[0], &house.agents).await?;
    let all = tokio::time::timeout(PATIENCE, seen.all_of(&event, ENDPOINTS)).await;
    all.map_err(|_| format!("{} of {ENDPOINTS} agents are reached", seen.of(&event).len()))?;
    seen.hang.set(hang);
    let messages = (RISING + window).as_millis() as u64 * RATE / 1_000;
    let counted = RISING.as_millis() as u64 * RATE / 1_000;
    let began = Instant::now();
    let mut said = JoinSet::new();
    for speaker in 1..=RATE {
        let (house, seen) = (house.clone(), seen.clone());
        let mut door = house.speaker(speaker as usize).await?;
        said.spawn_local(async move {
            let mut times = Vec::new();
            // Each speaks once a second, at a moment of its own.
            for number in (speaker - 1..messages).step_by(RATE as usize) {
                let at = began + Duration::from_secs(1) * number as u32 / RATE as u32;
                tokio::time::sleep_until(at.into()).await;
                let number = number as usize;
                let healthy = (0..NAMED).map(|n| HANG + (number * NAMED + n) % (ENDPOINTS - HANG));
                let named = healthy.chain([number % HANG]);
                let named: Vec<_> = named.map(|n| house.agents[n].clone()).collect();
                let sent = Instant::now();
                let event = door.say(&house.channels[number % CHANNELS], &named).await?;
                times.push((number as u64, sent, event));
            }
            let mut took = Vec::new();
            for (number, sent, event) in times {
                let whole = async {
                    loop {
                        let came = seen.of(&event);
                        let healthy: Vec<_> = came.iter().filter(|(n, _)| *n >= HANG).collect();
                        if healthy.len() == NAMED {
                            return healthy.iter().map(|(_, at)| *at - sent).collect::<Vec<_>>();
                        }
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                let all = tokio::time::timeout(PATIENCE, whole).await;
                let all = all.map_err(|_| format!("{event} did not come to all it named"))?;
                took.extend(all.into_iter().filter(|_| number >= counted));
            }
            Ok::<_, String>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(times) = said.join_next().await {
        took.extend(times.map_err(|e| e.to_string())??);
    }
    match seen.wrong.take() {
        Some(why) => Err(why),
        None => Ok(p99_us(took) / 1e3),
    }
}
