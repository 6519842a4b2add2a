//! Encodings that a field's declaration names because they are not its type's own.

use super::stored::{End, Form, Own, Part, Stored};
use super::{Coded, Corrupt, Reader, Result, Writer};
use crate::model::ids::{ConversationKey, EventRef, Seq};

/// Takes no space here: a column or another part of the record has it, or it is not stored.
pub(super) struct Elsewhere;

impl<T: Default> Form<T> for Elsewhere {
    fn put(_: &T, _: &mut Writer) {}

    fn get(_: &mut Reader<'_>) -> Result<T> {
        Ok(T::default())
    }
}

/// A field at the end of a row that rows from before it lack. It is absent while it is as it was for them.
pub(super) struct Trailing;

impl<T: Default> Form<T> for Trailing
where
    Own: Part<T>,
{
    fn put(value: &T, out: &mut Writer) {
        if !Own::is_absent(value) {
            Own::put_part(value, out);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<T> {
        let mut value = T::default();
        if !r.0.is_empty() {
            Own::get_part(&mut value, r)?;
        }
        Ok(value)
    }
}

/// As an option is stored, though the value is always there.
pub(super) struct Present;

impl<T: Stored> Form<T> for Present {
    fn put(value: &T, out: &mut Writer) {
        T::put_option(Some(value), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<T> {
        T::get_option(r)?.ok_or(Corrupt)
    }
}

/// A list whose items have the form `F`.
pub(super) struct Each<F>(std::marker::PhantomData<F>);

impl<T, F: Form<T>> Form<Vec<T>> for Each<F> {
    fn put(value: &Vec<T>, out: &mut Writer) {
        out.number(value.len() as u64);
        value.iter().for_each(|item| F::put(item, out));
    }

    fn get(r: &mut Reader<'_>) -> Result<Vec<T>> {
        (0..r.count()?).map(|_| F::get(r)).collect()
    }
}

/// Two options after each other, of which both are there or neither is.
pub(super) struct Both;

impl<A: Stored, B: Stored> Form<Option<(A, B)>> for Both {
    fn put(value: &Option<(A, B)>, out: &mut Writer) {
        A::put_option(value.as_ref().map(|both| &both.0), out);
        B::put_option(value.as_ref().map(|both| &both.1), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<(A, B)>> {
        match (A::get_option(r)?, B::get_option(r)?) {
            (Some(a), Some(b)) => Ok(Some((a, b))),
            (None, None) => Ok(None),
            _ => Err(Corrupt),
        }
    }
}

impl Form<Option<EventRef>> for Both {
    fn put(value: &Option<EventRef>, out: &mut Writer) {
        Self::put(&value.map(|at| (at.conversation, at.seq)), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<EventRef>> {
        let both: Option<(ConversationKey, Seq)> = Self::get(r)?;
        Ok(both.map(|(conversation, seq)| EventRef { conversation, seq }))
    }
}

/// A duration, which is never negative.
pub(super) struct Duration;

impl Form<i64> for Duration {
    fn put(value: &i64, out: &mut Writer) {
        out.number(*value as u64);
    }

    fn get(r: &mut Reader<'_>) -> Result<i64> {
        r.small()
    }
}

/// An optional enum, stored as an optional number.
pub(super) struct Number;

impl<T: Coded> Form<Option<T>> for Number {
    fn put(value: &Option<T>, out: &mut Writer) {
        value.as_ref().map(Coded::code).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<T>> {
        let code = Option::<u8>::get(r)?;
        code.map(|code| T::from_code(code).ok_or(Corrupt)).transpose()
    }
}

/// Flags in the bits of one byte, the first in the lowest.
pub(super) struct Bits;

impl Form<(bool, bool, bool, bool)> for Bits {
    fn put(&(a, b, c, d): &(bool, bool, bool, bool), out: &mut Writer) {
        out.byte([d, c, b, a].into_iter().fold(0, |bits, on| bits << 1 | u8::from(on)));
    }

    fn get(r: &mut Reader<'_>) -> Result<(bool, bool, bool, bool)> {
        let bits = r.byte()?;
        if bits > 15 {
            return Err(Corrupt);
        }
        Ok((bits & 1 > 0, bits & 2 > 0, bits & 4 > 0, bits & 8 > 0))
    }
}

/// The tagged parts end with the bytes.
pub(super) struct EndOfBytes;

impl<T> End<T> for EndOfBytes {
    fn next(r: &mut Reader<'_>) -> Result<u8> {
        if r.0.is_empty() { Ok(0) } else { Some(r.byte()?).filter(|tag| *tag > 0).ok_or(Corrupt) }
    }

    fn put(_: &T, _: &mut Writer) {}

    fn get(_: &mut T, tag: u8, _: &mut Reader<'_>) -> Result<()> {
        if tag == 0 { Ok(()) } else { Err(Corrupt) }
    }
}

/// The tagged parts end with a tag of 0.
pub(super) struct ZeroTag;

impl<T> End<T> for ZeroTag {
    fn next(r: &mut Reader<'_>) -> Result<u8> {
        r.byte()
    }

    fn put(_: &T, out: &mut Writer) {
        out.byte(0);
    }

    fn get(_: &mut T, tag: u8, _: &mut Reader<'_>) -> Result<()> {
        if tag == 0 { Ok(()) } else { Err(Corrupt) }
    }
}
