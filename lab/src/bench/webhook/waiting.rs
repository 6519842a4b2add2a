//! What deliveries cost in memory that wait for endpoints which are down: each is a message of its own, which names one agent.
//!
//! `held` is what stays when the same is said to agents that nobody serves at all: the rest is what the endpoints cost.

use serde_json::json;

use super::agents;
use super::house::House;
use crate::bench::Plan;
use crate::bench::host::idle::settle;
use crate::bench::host::rooms::{each, filled};
use crate::bench::host::server::Hosts;
use crate::bench::peers::free_port;
use crate::bench::report::Samples;

const ENDPOINTS: usize = 100;
const CHANNELS: usize = 10;
const DELIVERIES: usize = 100_000;

pub(super) fn measure(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let count = if plan.is_quick() { DELIVERIES / 50 } else { DELIVERIES };
    for (name, paused) in [("waiting_100k.held", true), ("waiting_100k", false)] {
        // Nobody listens there.
        let strings = agents::strings(ENDPOINTS, free_port()?);
        let house = House::open(hosts, "", strings, CHANNELS)?;
        if paused {
            let pause = |agent: &String| {
                ("PATCH", format!("/v1/endpoints/{agent}"), json!({"paused": true}).to_string())
            };
            each(&house.host, house.agents.iter().map(pause).collect())?;
        }
        settle(&house.host);
        let before = house.host.resident_mib();
        let text = filled("Can you look at this? ");
        let say = |n: usize| {
            let channel = &house.channels[n % CHANNELS];
            let named = [&house.agents[n / CHANNELS % ENDPOINTS]];
            let body = json!({"conversation": channel, "text": text, "mentions": named, "idempotency_key": n.to_string()});
            ("POST", "/v1/messages".to_owned(), body.to_string())
        };
        each(&house.host, (0..count).map(say).collect())?;
        settle(&house.host);
        let grown = (house.host.resident_mib() - before) * 1024.0 * 1024.0;
        samples.add(name, grown / count as f64);
    }
    Ok(())
}
