//! A host that is killed with a million messages behind it and something open in half of its rooms: how long until it is
//! ready again, and how long it takes to look at everything, or to mend it, without a host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::host::rooms::token;
use crate::bench::host::server::{Ground, Host, Hosts};
use crate::bench::report::Samples;
use crate::bench::{Plan, talk};

/// How long a host may take to be ready.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn measure(
    plan: &Plan,
    hosts: Hosts<'_>,
    ground: Ground,
    rooms: &[String],
    samples: &mut Samples,
) -> Result<(), String> {
    let mut host = hosts.start_on(&[], ground)?;
    host.ask("POST", "/v1/members", &json!({"id": "eve", "kind": "agent"}))?;
    for room in rooms.iter().step_by(2) {
        let path = format!("/v1/channels/{room}");
        host.ask("PATCH", &path, &json!({"replies": "thread"}))?;
        host.ask("PUT", &format!("{path}/members/eve"), &json!({}))?;
    }
    let person = token(&host, "person1", "operator")?;
    let say = |host: &Host, path: &str, body: Value| {
        let (status, answer) = talk::exchange(host.addr, "POST", path, &person, &body.to_string())?;
        match status {
            200..300 => Ok(()),
            _ => Err(format!("{path}: HTTP {status}: {}", String::from_utf8_lossy(&answer))),
        }
    };
    for round in 0..plan.rounds {
        for room in rooms.iter().step_by(2) {
            let text = format!("@eve where do we stand with number {round}?");
            let key = format!("asked {round} {room}");
            let post = json!({"conversation": room, "text": text, "idempotency_key": key});
            say(&host, "/v1/messages", post)?;
            let idea = json!({"kind": "agent_idea", "source": "eve", "text": text});
            say(&host, &format!("/v1/channels/{room}/stimuli"), idea)?;
        }
        let began = Instant::now();
        host = host.crash()?;
        while host.ask("GET", "/readyz", &Value::Null).is_err() {
            if began.elapsed() > PATIENCE {
                return Err("the host does not become ready".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // Ready is who takes work.
        let key = format!("on {round}");
        let post = json!({"conversation": rooms[0], "text": "we go on", "idempotency_key": key});
        say(&host, "/v1/messages", post)?;
        samples.add("recover_1m_s", began.elapsed().as_secs_f64());
        samples.add("recover_1m_mib", host.resident_mib());
    }
    let ground = host.end()?;
    for (name, arguments) in
        [("doctor_1m_s", &["doctor"][..]), ("repair_1m_s", &["doctor", "--repair"])]
    {
        let began = Instant::now();
        let output = std::process::Command::new(&plan.chorus)
            .args(arguments)
            .arg("--data")
            .arg(ground.folder.path())
            .output()
            .map_err(|e| format!("chorus doctor: {e}"))?;
        if !output.status.success() {
            return Err(format!("chorus doctor: {}", String::from_utf8_lossy(&output.stdout)));
        }
        samples.add(name, began.elapsed().as_secs_f64());
    }
    Ok(())
}
