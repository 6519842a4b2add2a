//! All tools, in the order of `tools/list`. Each is declared in its protocol's module, with
//! [`crate::tool::Arguments`], and is in the list at the top of it.

use serde::{Deserialize, Serialize};

use crate::tool::{Descriptor, Names, Tool};
use crate::{attention, channels, registry, threads};

/// Result of `tools/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    pub tools: Vec<Descriptor>,
}

/// All tools.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    let talk = threads::TOOLS.iter().chain(channels::TOOLS).chain(attention::tools::TOOLS);
    talk.chain(registry::TOOLS).copied()
}

/// The tool of a name, in either form.
pub fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.is_called(name))
}

/// What `tools/list` gives.
pub fn list_tools(names: Names) -> ToolList {
    ToolList { tools: all().map(|tool| tool.descriptor(names)).collect() }
}
