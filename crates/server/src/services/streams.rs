//! Streams: named lines of work with an owner.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::audit::Action;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, StreamKey, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::streams::{NewStream, Stream, Streams};

use super::audit::AuditService;
use super::commands::Commands;
use super::ids;
use crate::auth::Caller;
use crate::view::members;

/// Streams of channels.
pub(crate) struct StreamService {
    pub(super) commands: Arc<Commands>,
    pub(super) audit: Arc<AuditService>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl StreamService {
    pub(crate) fn streams(&self, caller: &Caller) -> Result<Streams, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let streams = directory.streams.iter();
        Ok(Streams { streams: streams.map(|s| members::stream(&directory, s)).collect() })
    }

    pub(crate) async fn add_stream(
        &self,
        caller: &Caller,
        new: NewStream,
    ) -> Result<Stream, Refusal> {
        self.audit.may_govern(caller, Action::AddStream, &new.name)?;
        let owner = {
            let directory = self.directory.load();
            let owner = new
                .owner
                .as_deref()
                .map(|id| ids::member_for(&directory, caller, id))
                .transpose()?;
            owner.map(|m| m.key)
        };
        let stream =
            self.commands.change(caller.by, directory::AddStream { name: new.name, owner }).await?;
        Ok(members::stream(&self.directory.load(), &stream))
    }
}

/// The stream with this public id.
pub(super) fn key(directory: &Directory, id: &str) -> Result<StreamKey, Refusal> {
    let uid = Uid::read(Prefix::Stream, id);
    let stream = uid.and_then(|uid| directory.streams.iter().find(|s| s.uid == uid));
    stream.map(|s| s.key).ok_or_else(|| Refusal::not_found("stream"))
}
