//! Deliveries a second, and a bare client's posts.
//!
//! Messages name all agents of a channel. A few are on their way at once, so that no agent waits for a post to be made; the next
//! of a speaker is said when all have heard the one before.

use std::rc::Rc;
use std::time::{Duration, Instant};

use reqwest::Client;
use tokio::task::{JoinSet, LocalSet};

use super::agents::{self, Place, Seen};
use super::house::House;
use crate::bench::host::server::Hosts;
use crate::bench::report::Samples;
use crate::bench::{Plan, load};

/// How it is measured with so many endpoints.
struct Shape {
    ours: &'static str,
    theirs: &'static str,
    endpoints: usize,
    /// Channels all of them are in; an endpoint is posted to in each of them at once.
    channels: usize,
    /// Messages on their way at once.
    ahead: usize,
}

const SHAPES: [Shape; 3] = [
    Shape { ours: "deliver.e1", theirs: "reqwest.e1", endpoints: 1, channels: 4, ahead: 64 },
    Shape { ours: "deliver.e100", theirs: "reqwest.e100", endpoints: 100, channels: 4, ahead: 12 },
    Shape {
        ours: "deliver.e1000",
        theirs: "reqwest.e1000",
        endpoints: 1_000,
        channels: 2,
        ahead: 6,
    },
];
/// Nothing here takes this long unless a delivery was lost.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn round(plan: &Plan, hosts: Hosts<'_>, window: Duration, samples: &mut Samples) {
    for shape in SHAPES.iter().filter(|shape| plan.wants(shape.ours)) {
        if let Err(why) = measure(shape, hosts, window, samples) {
            samples.failed(shape.ours, &why);
        }
    }
}

fn measure(
    shape: &Shape,
    hosts: Hosts<'_>,
    window: Duration,
    samples: &mut Samples,
) -> Result<(), String> {
    let place = Place::bind()?;
    let strings = place.strings(shape.endpoints)?;
    let house = House::open(hosts, "", strings.clone(), shape.channels)?;
    let taken = taken(shape, place, house, &strings, window, samples);
    LocalSet::new().block_on(&load::runtime()?, taken)
}

async fn taken(
    shape: &Shape,
    place: Place,
    house: House,
    strings: &[String],
    window: Duration,
    samples: &mut Samples,
) -> Result<(), String> {
    let (house, seen) = (Rc::new(house), Rc::new(Seen::default()));
    agents::serve(place, seen.clone())?;
    // Every endpoint is served, and every connection made.
    speak(shape, &house, &seen, Duration::ZERO).await?;
    let (cpu, before) = (house.host.cpu_s(), seen.arrived.get());
    let rate = speak(shape, &house, &seen, window).await?;
    let arrived = (seen.arrived.get() - before).max(1) as f64;
    let cpu_us = (house.host.cpu_s() - cpu) * 1e6 / arrived;
    let bytes = seen.bytes.get() / seen.arrived.get().max(1);
    // It goes before the peer comes.
    drop(Rc::into_inner(house));
    let theirs = post(shape, strings, &seen, bytes as usize, window).await?;
    if let Some(why) = seen.wrong.take() {
        return Err(why);
    }
    samples.add(shape.theirs, theirs);
    samples.add(shape.ours, rate);
    samples.add(&format!("{}.cpu_us", shape.ours), cpu_us);
    Ok(())
}

/// Says things for `window`, at least once in each channel; deliveries a second that arrived meanwhile. Returns when all
/// that was said has arrived.
async fn speak(
    shape: &Shape,
    house: &Rc<House>,
    seen: &Rc<Seen>,
    window: Duration,
) -> Result<f64, String> {
    let (began, before) = (Instant::now(), seen.arrived.get());
    let mut speakers = JoinSet::new();
    for number in 0..shape.ahead {
        let (house, seen, endpoints) = (house.clone(), seen.clone(), shape.endpoints);
        // Names of keys differ from one run to the next.
        let mut speaker = house.speaker(number + before as usize * shape.ahead).await?;
        speakers.spawn_local(async move {
            let channel = &house.channels[number % house.channels.len()];
            loop {
                let event = speaker.say(channel, &house.agents).await?;
                let all = tokio::time::timeout(PATIENCE, seen.all_of(&event, endpoints)).await;
                if all.is_err() {
                    let came = seen.of(&event).len();
                    return Err(format!("{came} of {endpoints} deliveries of {event} came"));
                }
                if began.elapsed() >= window {
                    return Ok(());
                }
            }
        });
    }
    tokio::time::sleep_until((began + window).into()).await;
    let rate = (seen.arrived.get() - before) as f64 / began.elapsed().as_secs_f64();
    while let Some(done) = speakers.join_next().await {
        done.map_err(|e| e.to_string())??;
    }
    Ok(rate)
}

/// The same posts by a client that does nothing else, on threads of its own as the host has them; posts a second.
async fn post(
    shape: &Shape,
    strings: &[String],
    seen: &Rc<Seen>,
    bytes: usize,
    window: Duration,
) -> Result<f64, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| format!("reqwest: {e}"))?;
    let client =
        Client::builder().no_proxy().http1_only().build().map_err(|e| format!("reqwest: {e}"))?;
    let body = bytes::Bytes::from(vec![b' '; bytes]);
    let at_once = shape.channels.min(shape.ahead);
    // As before the clock started for ours, every connection is made.
    let warm = Duration::from_millis(200);
    let end = Instant::now() + warm + window;
    for (number, url) in strings.iter().enumerate() {
        for line in 0..at_once {
            let (client, url, body) = (client.clone(), url.clone(), body.clone());
            runtime.spawn(async move {
                let mut n = 0_u64;
                while Instant::now() < end {
                    n += 1;
                    let key = format!("post_{number}_{line}_{n}");
                    let request = client
                        .post(&url)
                        .header("content-type", "application/json")
                        .header("idempotency-key", key)
                        .timeout(Duration::from_secs(10))
                        .body(body.clone());
                    // One that failed did not arrive, and is not counted.
                    if let Ok(answer) = request.send().await {
                        let _ = answer.bytes().await;
                    }
                }
            });
        }
    }
    tokio::time::sleep(warm).await;
    let (began, before) = (Instant::now(), seen.arrived.get());
    tokio::time::sleep_until(end.into()).await;
    let rate = (seen.arrived.get() - before) as f64 / began.elapsed().as_secs_f64();
    runtime.shutdown_background();
    Ok(rate)
}
