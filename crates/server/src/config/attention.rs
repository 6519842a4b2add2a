//! `[attention]`.

use chorus_core::model::flow::{self, Clue, Clues};

use super::section::section;

section! {
    /// How the host guesses whom a message is for that names nobody: it reads the flow of talk
    /// (docs/attention.md).
    Attention ["attention"] {
        /// Whether the flow of talk is read. Without it only names, replies and threads say whom a
        /// message is for.
        flow: bool = true;
        /// Rules of the flow that are turned off, such as `shared_words`.
        without: Vec<String> = Vec::new();
        /// From this percentage on, a guess obliges like a name: the agent must answer.
        sure: u32 = u32::from(flow::SURE), 1 => 100;
        /// From this percentage on, the agent is shown the message and may answer. At most `sure`.
        likely: u32 = u32::from(flow::LIKELY), 1 => 100;
        /// From this percentage on, the agent is told that there is a message (a knock), and may
        /// look at it. At most `likely`.
        perhaps: u32 = u32::from(flow::PERHAPS), 1 => 100;
        /// Whether a person's question to nobody in particular is given to one agent, which may
        /// answer.
        ask_one: bool = true;
    }
    check |attention| {
        let known = Clue::ALL.map(Clue::name).join(", ");
        let unknown = attention.without.iter().filter(|name| Clue::from_name(name).is_none());
        let unknown = unknown.map(|name| ("without", format!("{name:?} is no rule of the flow; there are {known}")));
        let mut wrong: Vec<_> = unknown.collect();
        if attention.likely > attention.sure {
            wrong.push(("likely", "what is sure is likely too: at most `sure`".to_owned()));
        }
        if attention.perhaps > attention.likely {
            wrong.push(("perhaps", "what is likely is possible too: at most `likely`".to_owned()));
        }
        wrong
    };
}

impl Attention {
    pub fn settings(&self) -> flow::Settings {
        let off = self.without.iter().filter_map(|name| Clue::from_name(name));
        let percent = |n: u32| u8::try_from(n).unwrap_or(100);
        flow::Settings {
            on: self.flow,
            off: off.fold(Clues::NONE, Clues::with),
            sure: percent(self.sure),
            likely: percent(self.likely),
            perhaps: percent(self.perhaps),
            ask_one: self.ask_one,
            ..flow::Settings::default()
        }
    }
}
