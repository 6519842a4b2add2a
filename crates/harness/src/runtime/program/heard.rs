//! What has been heard of a run so far.

use chorus_core::model::limits::TEXT_BYTES;

use crate::runtime::Told;

/// An answer longer than this is cut anyway.
const ANSWER_BYTES: usize = 2 * TEXT_BYTES;

#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What it has said, from the last use of a tool on.
    answer: String,
    /// It has used a tool since: what it says next takes the place of that.
    answer_is_old: bool,
    /// What goes wrong, while it tries again.
    trouble: Option<String>,
    /// How the program says that its turn ended.
    pub(super) end: Option<Result<(), String>>,
    session: Option<String>,
    news: Vec<Told>,
}

impl Heard {
    /// The program goes on in this session.
    pub(super) fn session(&mut self, id: Option<&str>) {
        let Some(id) = id.filter(|id| !id.is_empty() && self.session.as_deref() != Some(id)) else {
            return;
        };
        self.session = Some(id.to_owned());
        self.news.push(Told::Session(id.to_owned()));
    }

    /// It does something; what it has said so far is not its answer if more follows.
    pub(super) fn acts(&mut self, what: String) {
        self.answer_is_old = true;
        self.news.push(Told::Progress(what));
    }

    /// It says more.
    pub(super) fn says(&mut self, text: &str) {
        if std::mem::take(&mut self.answer_is_old) {
            self.answer.clear();
        }
        let mut room = ANSWER_BYTES.saturating_sub(self.answer.len()).min(text.len());
        while !text.is_char_boundary(room) {
            room -= 1;
        }
        self.answer.push_str(&text[..room]);
    }

    /// It says something whole, in the place of what it said before.
    pub(super) fn says_whole(&mut self, text: &str) {
        self.answer.clear();
        self.says(text);
    }

    pub(super) fn has_trouble(&mut self, what: String) {
        self.trouble = Some(what);
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    pub(super) fn answer(&self) -> &str {
        &self.answer
    }

    /// What is to be told since this was last asked.
    pub(super) fn news(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.news)
    }
}
