//! Credits on the wire: a number with at most two decimals.

use std::borrow::Cow;

use chorus_core::model::ledger::Credits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of credits, from 0 to 1,000,000,000,000 with at most two decimals. Balances of the
/// mint are negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub Credits);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        // 5 rather than 5.0, as people write it.
        match self.0.0 % 100 {
            0 => out.serialize_i64(self.0.0 / 100),
            _ => out.serialize_f64(self.0.number()),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(input)?;
        // Answers have the mint's balance, which is negative.
        let amount = match number < 0.0 {
            true => Credits::of_number(-number).map(|c| Credits(-c.0)),
            false => Credits::of_number(number),
        };
        amount.map(Self).ok_or_else(|| {
            serde::de::Error::custom(
                "an amount of credits is a number from 0 to 1,000,000,000,000 with at most two decimals",
            )
        })
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

impl From<Credits> for Amount {
    fn from(credits: Credits) -> Self {
        Self(credits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: REG-3
    #[test]
    fn an_amount_reads_back_as_it_was_written_and_a_third_decimal_does_not() {
        for (json, hundredths) in [("0.1", 10), ("0.10", 10), ("5", 500), ("5.0", 500), ("0", 0)] {
            let read: Amount = serde_json::from_str(json).expect(json);
            assert_eq!(read.0, Credits(hundredths), "{json}");
        }
        assert_eq!(serde_json::to_string(&Amount(Credits(15))).expect("a number"), "0.15");
        assert_eq!(serde_json::to_string(&Amount(Credits(500))).expect("a number"), "5");
        for bad in ["0.001", "1e13", "\"0.1\"", "null", "NaN", "1e999"] {
            assert!(serde_json::from_str::<Amount>(bad).is_err(), "{bad}");
        }
    }
}
