//! How the values of arguments are read.

use std::time::Duration;

use chorus_core::model::ledger::Credits;
use chorus_wire::named::{NamedEnum, unknown};
use chorus_wire::registry::Amount;

/// A word of the protocol, as an argument.
pub(crate) fn word<W: NamedEnum>(text: &str) -> Result<W, String> {
    W::from_name(text).ok_or_else(|| unknown::<W>(text))
}

/// A span of time: `90s`, `15m`, `24h`, `7d`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "a span of time is written 90s, 15m, 24h or 7d".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).filter(|seconds| *seconds > 0).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

/// Seconds, or a span of time.
pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let seconds = span(text).map_err(|wrong| format!("seconds, or {wrong}"))?.as_secs();
    u32::try_from(seconds).map_err(|_| "that is too long".to_owned())
}

/// An amount of credits: `5`, `0.50`.
pub(crate) fn credits(text: &str) -> Result<Amount, String> {
    let number = text.parse::<f64>().ok();
    number.and_then(Credits::of_number).map(Amount).ok_or_else(|| {
        "an amount of credits is a number with at most two decimals, such as 5 or 0.50".to_owned()
    })
}

/// The command of `cmd:'COMMAND'`.
pub(crate) fn shell_line(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some(("cmd", line)) if !line.trim().is_empty() => Ok(line.to_owned()),
        _ => Err("a command is written cmd:'COMMAND', as in cmd:'./check.sh --all'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    // covers: OPS-483
    #[test]
    fn seconds_are_a_number_or_a_span() {
        assert_eq!((seconds("0"), seconds("90"), seconds("5m")), (Ok(0), Ok(90), Ok(300)));
        assert!(seconds("soon").is_err() && seconds("-1").is_err());
    }

    #[test]
    fn spans_are_read() {
        assert_eq!(span("24h").unwrap(), Duration::from_secs(86_400));
        assert_eq!(span("90s").unwrap(), Duration::from_secs(90));
        for bad in ["", "5", "h", "-1h", "0s", "5 m", "99999999999999999999d", "1é"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    // covers: REG-92
    #[test]
    fn amounts_have_two_decimals_and_commands_are_marked_as_such() {
        assert_eq!(credits("0.50").unwrap(), Amount(Credits(50)));
        assert_eq!(credits("5").unwrap(), Amount(Credits(500)));
        for bad in ["", "0.005", "-1", "NaN", "inf", "1e13", "0,50", "five"] {
            assert!(credits(bad).is_err(), "{bad}");
        }
        assert_eq!(shell_line("cmd:./a.sh x").unwrap(), "./a.sh x");
        for bad in ["./a.sh", "cmd:", "cmd: ", "sh:./a.sh"] {
            assert!(shell_line(bad).is_err(), "{bad}");
        }
    }
}
