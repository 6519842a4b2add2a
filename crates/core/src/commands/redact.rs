//! How a command passes its texts to the secret redactor.

use std::sync::Arc;

use crate::model::event::Message;

/// Redacts secrets in texts. Each method returns how many secrets it found.
pub trait Redact {
    /// The text without its secrets; none if it has none.
    fn clean(&self, text: &str) -> Option<(String, u32)>;

    /// The same for canonical JSON, which stays canonical.
    fn clean_json(&self, json: &str) -> Option<(String, u32)>;
}

impl dyn Redact + '_ {
    pub(crate) fn text(&self, text: &mut Arc<str>) -> u32 {
        let Some((clean, count)) = self.clean(text) else { return 0 };
        *text = clean.into();
        count
    }

    pub(crate) fn maybe(&self, text: &mut Option<Arc<str>>) -> u32 {
        text.as_mut().map_or(0, |text| self.text(text))
    }

    pub(crate) fn string(&self, text: &mut String) -> u32 {
        let Some((clean, count)) = self.clean(text) else { return 0 };
        *text = clean;
        count
    }

    pub(crate) fn maybe_string(&self, text: &mut Option<String>) -> u32 {
        text.as_mut().map_or(0, |text| self.string(text))
    }

    fn json(&self, json: &mut Option<Arc<str>>) -> u32 {
        let Some((clean, count)) = json.as_deref().and_then(|json| self.clean_json(json)) else {
            return 0;
        };
        *json = Some(clean.into());
        count
    }

    /// Text, parts and metadata. The parts repeat the text and are not counted twice.
    pub fn message(&self, message: &mut Message) -> u32 {
        let text = self.text(&mut message.text);
        let parts = self.json(&mut message.parts);
        text.max(parts) + self.json(&mut message.metadata) + self.json(&mut message.source)
    }
}
