//! Read cursors: how far the caller has read a conversation.

use chorus_core::commands::conversations::SetCursor;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Seq};
use chorus_wire::rest::cursors::{Cursor, CursorPut};
use chorus_wire::rest::index::{Index, ListIndex};

use super::{App, ids};
use crate::auth::Caller;
use crate::view::conversations;

impl App {
    /// `GET /v1/index`: the caller's own seats.
    pub(crate) async fn index(&self, caller: &Caller, asked: ListIndex) -> Result<Index, Refusal> {
        caller.must_not_be_a_turn()?;
        let member = caller.by.member;
        let (scope, only_unread) = (asked.scope.unwrap_or_default(), asked.unread == Some(true));
        let mut seats = self.read(move |readers| readers.unread(member)).await?;
        seats.retain(|seat| {
            scope.holds(seat.conversation.kind) && (!only_unread || seat.messages > 0 || seat.more)
        });
        seats.sort_by_key(|seat| std::cmp::Reverse((seat.last_at, seat.conversation.key)));
        Ok(Index { channels: seats.iter().map(conversations::indexed).collect() })
    }

    pub(crate) async fn cursor(
        &self,
        caller: &Caller,
        conversation: &str,
    ) -> Result<Cursor, Refusal> {
        let place = self.place(caller, ids::conversation(conversation)?).await?;
        let (key, member) = (place.conversation.key, caller.by.member);
        let cursor = self.read(move |readers| readers.cursor(key, member)).await?;
        Ok(Cursor {
            conversation: place.conversation.uid.show(Prefix::Conversation),
            last_read_seq: cursor.read.0,
            last_seq: place.head.seq.0,
        })
    }

    /// Moves it forward; a cursor goes neither back nor past the end.
    pub(crate) async fn set_cursor(
        &self,
        caller: &Caller,
        conversation: &str,
        put: CursorPut,
    ) -> Result<Cursor, Refusal> {
        caller.must_not_be_a_turn()?;
        let uid = ids::conversation(conversation)?;
        let read = Seq(put.last_read_seq);
        self.submit(caller.by, SetCursor { conversation: uid, read }).await?;
        self.cursor(caller, conversation).await
    }
}
