//! Finding agents by what they can do (registry spec section 3.2).
//!
//! The order is that of the indexes `skill_rank` and `skill_best`: reputation, then cost, then the
//! last success. A page begins after a place in that order, so that a search costs what it shows;
//! or, if one of its words is rare, what has that word.

use chorus_core::model::ids::{Timestamp, Uid};
use chorus_core::model::ledger::Credits;
use chorus_core::model::registry::{Listing, Reputation};

use crate::db::{Db, Result, Row, Value};
use crate::row::uid;

/// A word of fewer skills than this is rare: they are sorted sooner than it is looked for in their
/// order.
const FEW: usize = 1_000;

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    pub skill: Option<String>,
    /// Words that all occur in the skill's name or description or in the agent's name.
    pub words: Vec<String>,
    pub min_reputation: Option<Reputation>,
    pub max_cost: Option<Credits>,
    /// Only agents that were heard of after this time.
    pub seen_after: Option<Timestamp>,
    /// Only agents that were not.
    pub not_seen_after: Option<Timestamp>,
    /// Only agents whose endpoint has answered a challenge.
    pub verified: bool,
    /// Only agents with fewer settled jobs than this.
    pub newcomers: Option<u64>,
    /// Only what comes after this place.
    pub after: Option<Position>,
    pub limit: usize,
}

/// A place in the order of discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub rank: i64,
    pub cost: i64,
    pub recency: i64,
    pub agent: Uid,
    pub skill: String,
}

/// A skill of an agent that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub listing: Listing,
    pub position: Position,
    pub seen_at: Option<Timestamp>,
}

/// A statement that grows by conditions, with the values of its parameters in order.
struct Statement<'a> {
    sql: String,
    values: Vec<Value<'a>>,
}

impl<'a> Statement<'a> {
    /// Adds a condition in which `?` stands for the value.
    fn and(&mut self, condition: &str, value: Value<'a>) {
        self.values.push(value);
        let number = format!("${}", self.values.len());
        self.sql.push_str(" AND ");
        self.sql.push_str(&condition.replace('?', &number));
    }
}

pub(crate) fn discover(db: &dyn Db, workspace: i64, asked: &Discovery) -> Result<Vec<Found>> {
    let agent = asked.after.as_ref().map(|after| after.agent.0.to_be_bytes());
    let rare = rare_word(db, workspace, &asked.words)?;
    let mut statement = Statement {
        sql: "SELECT s.rank, s.cost, s.recency, s.agent, s.name, l.packed, h.at FROM ".to_owned(),
        values: vec![workspace.into()],
    };
    if rare.is_some() {
        // SQLite takes the sides of a cross join in their order.
        statement.sql.push_str("skill_word f CROSS JOIN ");
    }
    statement.sql.push_str(
        "skill s JOIN listing l ON l.workspace = s.workspace AND l.agent = s.agent \
         LEFT JOIN heartbeat h ON h.workspace = s.workspace AND h.agent = s.agent \
         WHERE s.workspace = $1",
    );
    if let Some(word) = rare {
        let holds = "f.word = ? AND f.workspace = $1 AND s.name = f.name AND s.agent = f.agent";
        statement.and(holds, word.into());
    }
    if let Some(skill) = &asked.skill {
        statement.and("s.name = ?", skill.as_str().into());
    }
    for word in &asked.words {
        let holds = "EXISTS (SELECT 1 FROM skill_word w WHERE w.workspace = s.workspace \
                     AND w.word = ? AND w.name = s.name AND w.agent = s.agent)";
        statement.and(holds, word.as_str().into());
    }
    if let Some(score) = asked.min_reputation {
        statement.and("s.rank <= ?", (-score.bits()).into());
    }
    if let Some(cost) = asked.max_cost {
        statement.and("s.cost <= ?", cost.0.into());
    }
    if asked.verified {
        statement.and("s.verified = ?", true.into());
    }
    if let Some(settled) = asked.newcomers {
        statement.and("s.settled < ?", settled.into());
    }
    if let Some(seen) = asked.seen_after {
        statement.and("h.at >= ?", seen.0.into());
    }
    if let Some(seen) = asked.not_seen_after {
        statement.and("(h.at IS NULL OR h.at < ?)", seen.0.into());
    }
    if let (Some(after), Some(agent)) = (&asked.after, &agent) {
        let from = statement.values.len();
        let at = |n: usize| from + n;
        statement.sql.push_str(&format!(
            " AND (s.rank, s.cost, s.recency, s.agent, s.name) > (${}, ${}, ${}, ${}, ${})",
            at(1),
            at(2),
            at(3),
            at(4),
            at(5)
        ));
        let place: [Value<'_>; 4] =
            [after.rank.into(), after.cost.into(), after.recency.into(), agent.into()];
        statement.values.extend(place);
        statement.values.push(after.skill.as_str().into());
    }
    statement.values.push((asked.limit as u64).into());
    statement.sql.push_str(&format!(
        " ORDER BY s.rank, s.cost, s.recency, s.agent, s.name LIMIT ${}",
        statement.values.len()
    ));
    db.all(&statement.sql, &statement.values, read)
}

/// A word that few skills have, if one of them is.
fn rare_word<'a>(db: &dyn Db, workspace: i64, words: &'a [String]) -> Result<Option<&'a str>> {
    for word in words {
        let sql = "SELECT 1 FROM skill_word WHERE workspace = $1 AND word = $2 LIMIT $3";
        let values = [workspace.into(), word.as_str().into(), (FEW as u64).into()];
        if db.all(sql, &values, |_| Ok(()))?.len() < FEW {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

fn read(row: &dyn Row) -> Result<Found> {
    let position = Position {
        rank: row.int(0)?,
        cost: row.int(1)?,
        recency: row.int(2)?,
        agent: uid(row, 3)?,
        skill: row.text(4)?.to_owned(),
    };
    let listing = chorus_core::codec::read_listing(row.blob(5)?)?;
    Ok(Found { listing, position, seen_at: row.maybe_int(6)?.map(Timestamp) })
}

/// A skill that some agents have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCount {
    pub name: String,
    pub agents: u64,
    pub cheapest: Credits,
}

/// The skills after a name, by name.
pub(crate) fn skills(
    db: &dyn Db,
    workspace: i64,
    after: &str,
    limit: usize,
) -> Result<Vec<SkillCount>> {
    let sql = "SELECT name, COUNT(*), MIN(cost) FROM skill WHERE workspace = $1 AND name > $2 \
               GROUP BY name ORDER BY name LIMIT $3";
    db.all(sql, &[workspace.into(), after.into(), (limit as u64).into()], |row| {
        let (name, agents) = (row.text(0)?.to_owned(), row.int(1)?);
        Ok(SkillCount { name, agents, cheapest: Credits(row.int(2)?) })
    })
}
