//! `[approvals]`.

use chorus_core::model::approval::Rules;
use chorus_wire::tool::Tool;
use chorus_wire::tool_list;

use super::section::section;

section! {
    /// Messages and tools that wait for a person. What an agent was told in private always waits
    /// before it reaches somebody who could not read it there, whatever is set here.
    Approvals ["approvals"] {
        /// Hours that a person has to decide. After that the request is refused.
        expire_hours: u32 = 24, 1 => 168;
        /// Tools that an agent may call only after a person has agreed to the call, such as
        /// `chat.resolve`. The same act over REST, as an MCP resource or by another tool waits too.
        /// With `chat.send_message` or `post_message`, every message of an agent waits.
        sensitive_tools: Vec<String> = Vec::new();
    }
    check |approvals| {
        let unknown = approvals.sensitive_tools.iter().filter(|t| tool_list::find(t).is_none());
        let known: Vec<_> = tool_list::all().map(|t| t.name).collect();
        let known = known.join(", ");
        unknown.map(|tool| ("sensitive_tools", format!("{tool:?} is no tool; there are {known}"))).collect()
    };
}

impl Approvals {
    pub fn rules(&self) -> Rules {
        Rules {
            expires_ms: i64::from(self.expire_hours) * 3_600_000,
            all_sends: self.tools().into_iter().any(|tool| tool.sends),
        }
    }

    pub fn tools(&self) -> Vec<&'static Tool> {
        self.sensitive_tools.iter().filter_map(|name| tool_list::find(name)).collect()
    }
}
