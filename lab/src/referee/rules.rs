//! The rules that the referee holds a host to: what each says, and where the spec says it.
//!
//! A rule stands here because a page of `spec/` has it, never because the code does it.

/// One thing that must be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name in the report.
    pub id: &'static str,
    /// The requirements it comes from.
    pub of: &'static str,
    pub says: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $of:literal $says:literal;)*) => {
        $(pub(super) const $name: Rule = Rule { id: $id, of: $of, says: $says };)*
        /// Every rule, in the order of the report.
        pub const ALL: &[Rule] = &[$($name),*];
    };
}

rules! {
    PIECES "compose.pieces" "ATT-49, ATT-50, ATT-55"
        "What a stranger says in several pieces gets one answer.";
    START "compose.start" "ATT-49, ATT-51"
        "A complete question that nobody adds to starts a turn after two quiet seconds.";
    NODDED "owed.nodded" "ATT-71, ATT-87, ATT-115"
        "Who takes on what it owes with `working` or `claimed` and falls silent owes it still.";
    LATE_ACK "owed.late-ack" "ATT-114, ATT-115, ATT-118"
        "An acknowledgement that comes late, or twice, moves no deadline.";
    ESCALATED "owed.escalated" "ATT-114, ATT-115, ATT-119"
        "What nobody answers is offered again, and moves to somebody else at its deadline.";
    PUT_OFF "owed.put-off" "ATT-144, ATT-145"
        "What is put off comes back at a time that its asker sees, whether or not one was given.";
    HANDED_ON "owed.handed-on" "ATT-65, ATT-87, ATT-115"
        "An obligation that its holder declines goes to somebody else.";
    ASKER_TOLD "owed.asker-told" "ATT-87"
        "An agent whose question is declined is told so.";
    OWED_LISTED "owed.listed" "ATT-78, ATT-124"
        "What is owed after an edit is listed by the event that is owed.";
    ONCE "owed.once" "ATT-65, ATT-66, FAIL-9"
        "Each member answers an event once.";
    ACCOUNTED "owed.accounted" "ATT-65, ATT-102, ATT-115, ATT-119"
        "Each obligation has ended, was handed on, or is listed as open.";
    HAS_MORE "list.has-more" "ATT-78"
        "A page says that there is more when there is, and only then.";
    SAME_EDIT "edit.same" "ATT-124, ATT-125"
        "An edit that changes nothing is no event.";
    STALE "stale.refused" "ATT-91, CHN-28, CHN-67"
        "Whatever is called in a turn that was taken away, or under an older fence, is refused.";
    NOTHING "refused.nothing" "ATT-129, CHN-96"
        "A refused call changes nothing.";
    PASSED "turns.passed" "CHN-24, CHN-42"
        "A turn that ends without words goes to the next at once.";
    PEOPLE "turns.people" "CHN-244"
        "A person never has a turn and never waits for one.";
    PARALLEL "turns.parallel" "CHN-20"
        "No more members have a turn than the channel says.";
    NO_FREE_PLACE "turns.no-free-place" "CHN-20, CHN-24"
        "Nobody waits while a place is free and paid for.";
    CANCELLED "turns.cancelled" "ATT-120, CHN-28"
        "A run whose member lost its seat, or whose channel was archived, is cancelled.";
    COOLDOWN "turns.cooldown" "CHN-23, CHN-26"
        "A member that has spoken rests, over a restart too.";
    KEPT "output.kept" "CHN-40, CHN-26"
        "What was put out and kept is said when the run ends, over a new connection and a kill.";
    BAD_ASSET "output.bad-asset" "CHN-141, CHN-40"
        "A file that there is not is refused when it is put out, not when the run ends.";
    EVENTS_BOUNDED "budget.events" "ATT-170, ATT-174"
        "Agents' messages of kind `event` that oblige somebody count against the budget.";
    BUDGET "budget.chain" "ATT-170, ATT-174"
        "Agents say no more on a line without a person than its budget.";
    HOP "hop.bound" "ATT-96, ATT-97, ATT-98, ATT-100"
        "A message's hop is one more than its cause's; from 6 on it obliges no agent, and ends at 12.";
    INITIATIVE "stimuli.initiative" "CHN-85, CHN-88"
        "A stimulus of an undertaking that has a live thread goes on there at once.";
    HELD "jobs.held" "REG-30, REG-40"
        "A job that is asked for holds its budget once, however often it is asked for.";
    SETTLED_ONCE "jobs.settled-once" "REG-35, REG-39, REG-40"
        "A job is settled once, however often its result comes, over a kill too.";
    NOT_ANOTHERS "jobs.not-anothers" "REG-44"
        "Nobody but the agent and its owner delivers a job's result.";
    MOVES "reputation.moves" "REG-70, REG-72"
        "A job that was paid moves its agent's reputation once.";
    SUMS "credits.sums" "REG-50, REG-53, REG-56"
        "After each step the sum over all accounts is 0 with the mint, and the entries come to each balance.";
    NO_OVERDRAFT "credits.no-overdraft" "REG-42, REG-51, REG-54"
        "However many spend at once, what is spent was there.";
    DURABLE "log.durable" "ATT-101, ATT-7"
        "What was acknowledged is in the log once, with its id and seq, and the log has no hole.";
    NOT_TWICE "log.not-twice" "ATT-108"
        "The same message under the same key is posted once, however often it is sent.";
    FOLLOWED "feed.followed" "ATT-6"
        "Who follows a conversation is shown each entry once and in order, over restarts.";
    APART "workspaces.apart" "OPS-162"
        "Of two workspaces with members of the same names, neither shows anything of the other.";
    SOUND "host.sound" "CHN-200"
        "The host neither ends by itself nor errs, and its doctor finds nothing.";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn each_rule_has_a_name_of_its_own_and_a_source_in_the_spec() {
        let pages = ["attention.md", "channels.md", "operations.md", "registry.md", "threads.md"]
            .map(|page| {
                let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/");
                std::fs::read_to_string(format!("{path}{page}")).unwrap()
            });
        for (index, rule) in ALL.iter().enumerate() {
            assert!(ALL[..index].iter().all(|other| other.id != rule.id), "{}", rule.id);
            for id in rule.of.split(", ") {
                let stated = format!("**{id}**");
                assert!(pages.iter().any(|page| page.contains(&stated)), "{}: {id}", rule.id);
            }
        }
    }
}
