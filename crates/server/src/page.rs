//! The plain pages: what runs here, signing in, invitations, and refusals. No scripts, and nothing of any member in
//! them unescaped.

use chorus_core::model::limits;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:4rem auto;padding:0 1.5rem;\
color:#1c2430;background:#fbfaf7}h1{font-size:2rem;margin:0 0 .25rem}p.sub{color:#5b6675;margin:0 0 2rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.5rem}dt{color:#5b6675}dd{margin:0}\
pre{background:#f0eee8;padding:1rem;border-radius:.5rem;overflow:auto;white-space:pre-wrap;word-break:break-all}\
code{font-family:ui-monospace,monospace;font-size:.9em}\
button,input{font:inherit;padding:.35rem .8rem}\
@media(prefers-color-scheme:dark){body{background:#15181d;color:#e6e3dc}pre{background:#20242b}dt,p.sub{color:#98a2b0}}";

/// What `/` says.
pub(crate) struct Front<'a> {
    pub workspace: &'a str,
    pub channels: u64,
    pub members: usize,
    pub connected: usize,
}

impl Front<'_> {
    pub(crate) fn html(&self) -> String {
        let body = format!(
            "<h1>Chorus</h1><p class=sub>One durable host where people and agents share rooms, and only \
             the right one answers.</p>\
             <dl><dt>Workspace</dt><dd>{}</dd><dt>Version</dt><dd>{}</dd><dt>Members</dt><dd>{}</dd>\
             <dt>Channels</dt><dd>{}</dd><dt>Connected agents</dt><dd>{}</dd></dl>\
             <h2>From here</h2><p><a href=\"/app/\">Open the page</a>, or <a href=\"/signin\">sign in</a> \
             first.</p><p>{GET_CHORUS}</p>\
             <pre><code>{LOGIN}</code></pre><pre><code>chorus chat general\nchorus tail</code></pre>\
             <p>REST is below <code>/v1</code>, agents connect to <code>/v1/c2a</code> (C2A, \
             <code>spec/attention.md</code>). Operations: <code>/healthz</code> <code>/readyz</code> \
             <code>/metrics</code>.</p>",
            escape(self.workspace),
            env!("CARGO_PKG_VERSION"),
            self.members,
            self.channels,
            self.connected,
        );
        page("Chorus", &body)
    }
}

/// For whoever may not have the program yet, such as somebody who was invited.
const GET_CHORUS: &str = "All of this works from a terminal. If you do not have the program <code>chorus</code> yet: \
<code>docs/install.md</code> of its source says how to get it, or ask whoever invited you.";
const LOGIN: &str =
    "chorus login LINK       # the link of your invitation, or of <b>chorus signin</b>";
/// What a sign-in link shows: a button, because a program that looks at links before a person does must not use it up.
pub(crate) fn sign_in(workspace: &str) -> String {
    let body = format!(
        "<h1>Sign in</h1><p class=sub>to {}. The link works once.</p>\
         <form method=post><button>Sign in</button></form>",
        escape(workspace)
    );
    page("Chorus: sign in", &body)
}

/// How somebody gets in who has no link: through an issuer, where the settings name one.
pub(crate) fn ways_to_sign_in<'a>(
    workspace: &str,
    issuers: impl Iterator<Item = &'a str>,
) -> String {
    let links: String = issuers
        .map(|name| {
            let shown = escape(name);
            format!("<p><a href=\"/signin/with/{shown}\">Sign in with {shown}</a></p>")
        })
        .collect();
    let or = if links.is_empty() { "Type" } else { "Or type" };
    let body = format!(
        "<h1>Sign in</h1><p class=sub>to {}</p>{links}\
         <p>{or} <code>chorus signin</code> where you are signed in already, and open the link that it \
         prints. Who is new here asks for an invitation.</p>",
        escape(workspace)
    );
    page("Chorus: sign in", &body)
}

/// What an invitation shows.
pub(crate) struct Invitation<'a> {
    pub workspace: &'a str,
    pub member: &'a str,
    /// What stands in the form: the member's id, or what was typed there and refused.
    pub typed: &'a str,
    /// Why that was refused.
    pub refused: Option<&'a str>,
}

impl Invitation<'_> {
    pub(crate) fn html(&self) -> String {
        let (workspace, member) = (escape(self.workspace), escape(self.member));
        let typed = escape(self.typed);
        let most = limits::TITLE_BYTES;
        let refused = self.refused.map(|why| format!("<p role=alert>{}</p>", escape(why)));
        let body = format!(
            "<h1>Welcome</h1><p class=sub>You are invited to {workspace} as @{member}.</p>{}\
             <form method=post><label>Your name <input name=display_name maxlength={most} \
             autocomplete=name value=\"{typed}\"></label> <button>Join</button></form>",
            refused.unwrap_or_default(),
        );
        page("Chorus: invitation", &body)
    }
}

/// A refusal: its sentence, and the name of the request where it is in the log.
pub(crate) fn refused(status: u16, sentence: &str, request_id: Option<&str>) -> String {
    let title = match status {
        404 => "Not found",
        429 | 503 => "Try again later",
        500 => "A mistake of the host",
        _ => "That did not work",
    };
    let request = request_id.map(|id| format!("<p><code>{}</code></p>", escape(id)));
    let body = format!(
        "<h1>{title}</h1><p>{}</p>{}<p><a href=\"/\">What runs here</a></p>",
        escape(sentence),
        request.unwrap_or_default(),
    );
    page("Chorus", &body)
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style><body>{body}</body></html>\n"
    )
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_name_is_text_and_not_markup() {
        let front = Front { workspace: "<b>x", channels: 1, members: 2, connected: 0 }.html();
        assert!(front.contains("&lt;b&gt;x") && !front.contains("<b>x"));
        let refused = refused(400, "no \"<b>x\"", Some("<req>"));
        assert!(refused.contains("no &quot;&lt;b&gt;x&quot;") && refused.contains("&lt;req&gt;"));
    }
}
