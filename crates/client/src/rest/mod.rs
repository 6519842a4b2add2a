//! The methods of [`crate::Client`], one for each REST call; the files are those of `chorus_wire::rest`.

mod approvals;
mod assets;
mod attention;
mod audit;
mod channels;
mod copies;
mod endpoints;
mod hosts;
mod inboxes;
mod members;
mod messages;
mod projects;
mod registry;
mod search;
pub(crate) mod sign_in;
mod threads;
mod wakes;
mod work;
mod workspaces;
