//! A room that mirrors a channel of another service.

use super::Room;
use crate::model::ids::Seq;
use crate::model::inbox::{Callback, Remote};

impl Room {
    pub fn set_remote(&mut self, remote: Remote) {
        self.remote = Some(remote);
        self.dirty.remote = true;
    }

    /// Records where the answer to an event is sent.
    pub fn keep_callback(&mut self, of: Seq, callback: Callback) {
        let Some(remote) = &mut self.remote else { return };
        let gone = remote.keep(of, callback.clone());
        self.dirty.callbacks.insert(of, Some(callback));
        self.dirty.callbacks.extend(gone.into_iter().map(|seq| (seq, None)));
    }

    /// Records a message for the service.
    pub fn note_said(&mut self, said: Seq) {
        let Some(remote) = &mut self.remote else { return };
        remote.said = said;
        self.dirty.remote = true;
    }

    /// Messages up to this one need not be sent any more.
    pub fn note_sent(&mut self, through: Seq) {
        let Some(remote) = &mut self.remote else { return };
        remote.sent = remote.sent.max(through);
        self.dirty.remote = true;
    }
}
