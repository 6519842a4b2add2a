//! How values are stored: each type's own encoding, other encodings of it, and parts that may be absent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{
    ConversationKey, MemberKey, Seq, SessionKey, StreamKey, ThreadKey, Timestamp, Uid,
};

/// A type with an encoding of its own.
pub(super) trait Stored: Sized {
    fn put(&self, out: &mut Writer);

    fn get(r: &mut Reader<'_>) -> Result<Self>;

    /// One byte says whether the value is there. Numbers have a shorter form.
    fn put_option(value: Option<&Self>, out: &mut Writer) {
        value.is_some().put(out);
        if let Some(value) = value {
            value.put(out);
        }
    }

    fn get_option(r: &mut Reader<'_>) -> Result<Option<Self>> {
        if bool::get(r)? { Self::get(r).map(Some) } else { Ok(None) }
    }
}

/// A way to store a `T`. A declaration names it after the field; [`Own`] is used where it names none.
pub(super) trait Form<T> {
    fn put(value: &T, out: &mut Writer);
    fn get(r: &mut Reader<'_>) -> Result<T>;
}

/// The encoding that the type has of its own.
pub(super) struct Own;

impl<T: Stored> Form<T> for Own {
    fn put(value: &T, out: &mut Writer) {
        value.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<T> {
        T::get(r)
    }
}

/// An enum whose cases have tags. The tag need not stand directly before the fields of its case.
pub(super) trait Cases: Sized {
    fn tag(&self) -> u8;
    fn put_fields(&self, out: &mut Writer);
    fn get_fields(tag: u8, r: &mut Reader<'_>) -> Result<Self>;
}

/// A part of a record that takes no space while it is absent.
pub(super) trait Part<T> {
    fn is_absent(of: &T) -> bool;
    fn put_part(of: &T, out: &mut Writer);
    fn get_part(of: &mut T, r: &mut Reader<'_>) -> Result<()>;
}

/// What ends a record's bytes, over the whole record.
pub(super) trait Rest<T> {
    fn put_rest(of: &T, out: &mut Writer);
    fn get_rest(of: &mut T, r: &mut Reader<'_>) -> Result<()>;
}

/// The tagged parts of a record.
pub(super) trait Parts: Sized {
    /// Writes those whose tag is above `above`.
    fn put_parts(&self, above: u8, out: &mut Writer);
    fn get_parts(&mut self, r: &mut Reader<'_>) -> Result<()>;
}

/// Where the tagged parts of a record end.
pub(super) trait End<T> {
    /// The next tag.
    fn next(r: &mut Reader<'_>) -> Result<u8>;
    fn put(of: &T, out: &mut Writer);
    /// Reads what `tag`, which no part has, stands for.
    fn get(of: &mut T, tag: u8, r: &mut Reader<'_>) -> Result<()>;
}

/// Whether the tags of a record's parts rise; 0 is none.
pub(super) const fn rise(tags: &[u8]) -> bool {
    let (mut last, mut at) = (0, 0);
    while at < tags.len() {
        if tags[at] <= last {
            return false;
        }
        last = tags[at];
        at += 1;
    }
    true
}

impl Stored for u8 {
    fn put(&self, out: &mut Writer) {
        out.byte(*self);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        r.byte()
    }

    fn put_option(value: Option<&Self>, out: &mut Writer) {
        out.option(value.map(|n| u64::from(*n)));
    }

    fn get_option(r: &mut Reader<'_>) -> Result<Option<Self>> {
        r.option()?.map(Self::try_from).transpose().map_err(|_| Corrupt)
    }
}

macro_rules! numbers {
    ($($number:ident),+) => {
        $(impl Stored for $number {
            fn put(&self, out: &mut Writer) {
                out.number(u64::from(*self));
            }

            fn get(r: &mut Reader<'_>) -> Result<Self> {
                r.small()
            }

            fn put_option(value: Option<&Self>, out: &mut Writer) {
                out.option(value.map(|n| u64::from(*n)));
            }

            fn get_option(r: &mut Reader<'_>) -> Result<Option<Self>> {
                r.option()?.map(Self::try_from).transpose().map_err(|_| Corrupt)
            }
        })+
    };
}

numbers!(u16, u32, u64);

macro_rules! keys {
    ($($key:ident),+) => {
        $(impl Stored for $key {
            fn put(&self, out: &mut Writer) {
                self.0.put(out);
            }

            fn get(r: &mut Reader<'_>) -> Result<Self> {
                Stored::get(r).map(Self)
            }

            fn put_option(value: Option<&Self>, out: &mut Writer) {
                Stored::put_option(value.map(|key| &key.0), out);
            }

            fn get_option(r: &mut Reader<'_>) -> Result<Option<Self>> {
                Ok(Stored::get_option(r)?.map(Self))
            }
        })+
    };
}

keys!(ConversationKey, MemberKey, Seq, SessionKey, StreamKey, ThreadKey);

impl Stored for i64 {
    fn put(&self, out: &mut Writer) {
        out.signed(*self);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        r.signed()
    }
}

impl Stored for Timestamp {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        i64::get(r).map(Self)
    }
}

impl Stored for bool {
    fn put(&self, out: &mut Writer) {
        out.byte((*self).into());
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        match r.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Corrupt),
        }
    }
}

impl<const LENGTH: usize> Stored for [u8; LENGTH] {
    fn put(&self, out: &mut Writer) {
        out.0.extend_from_slice(self);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        r.bytes(LENGTH)?.try_into().map_err(|_| Corrupt)
    }
}

impl Stored for Uid {
    fn put(&self, out: &mut Writer) {
        self.0.to_be_bytes().put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        Stored::get(r).map(|bytes| Self(u128::from_be_bytes(bytes)))
    }
}

impl Stored for Arc<str> {
    fn put(&self, out: &mut Writer) {
        out.text(self);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        r.text()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, out: &mut Writer) {
        T::put_option(self.as_ref(), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        T::get_option(r)
    }
}

macro_rules! pointers {
    ($($pointer:ident),+) => {
        $(impl<T: Stored> Stored for $pointer<T> {
            fn put(&self, out: &mut Writer) {
                T::put(self, out);
            }

            fn get(r: &mut Reader<'_>) -> Result<Self> {
                T::get(r).map(Self::new)
            }
        })+
    };
}

pointers!(Arc, Box);

macro_rules! tuples {
    ($(($($item:ident $at:tt),+))+) => {
        $(impl<$($item: Stored),+> Stored for ($($item,)+) {
            fn put(&self, out: &mut Writer) {
                $(self.$at.put(out);)+
            }

            fn get(r: &mut Reader<'_>) -> Result<Self> {
                Ok(($($item::get(r)?,)+))
            }
        })+
    };
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) }

pub(super) fn put_list<'a, T: Stored + 'a>(
    items: impl ExactSizeIterator<Item = &'a T>,
    out: &mut Writer,
) {
    out.number(items.len() as u64);
    items.for_each(|item| item.put(out));
}

pub(super) fn get_list<T: Stored, L: FromIterator<T>>(r: &mut Reader<'_>) -> Result<L> {
    (0..r.count()?).map(|_| T::get(r)).collect()
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Writer) {
        put_list(self.iter(), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        get_list(r)
    }
}

impl<T: Stored> Stored for Arc<[T]> {
    fn put(&self, out: &mut Writer) {
        put_list(self.iter(), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        get_list(r)
    }
}

/// Rising items only, so that one set has one encoding.
impl<T: Stored + Ord> Stored for BTreeSet<T> {
    fn put(&self, out: &mut Writer) {
        put_list(self.iter(), out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        let items: Vec<T> = get_list(r)?;
        if items.is_sorted_by(|a, b| a < b) {
            Ok(items.into_iter().collect())
        } else {
            Err(Corrupt)
        }
    }
}

/// Rising keys only, so that one map has one encoding.
impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn put(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        let items: Vec<(K, V)> = get_list(r)?;
        let rises = items.is_sorted_by(|a, b| a.0 < b.0);
        if rises { Ok(items.into_iter().collect()) } else { Err(Corrupt) }
    }
}

/// A value that is there stands as it is.
impl<T, F: Form<T>> Part<Option<T>> for F {
    fn is_absent(of: &Option<T>) -> bool {
        of.is_none()
    }

    fn put_part(of: &Option<T>, out: &mut Writer) {
        if let Some(value) = of {
            F::put(value, out);
        }
    }

    fn get_part(of: &mut Option<T>, r: &mut Reader<'_>) -> Result<()> {
        *of = Some(F::get(r)?);
        Ok(())
    }
}

macro_rules! lists_as_parts {
    ($($list:ident<$($item:ident),+>),+) => {
        /// A list that is there has something in it.
        $(impl<$($item,)+ F: Form<$list<$($item),+>>> Part<$list<$($item),+>> for F {
            fn is_absent(of: &$list<$($item),+>) -> bool {
                of.is_empty()
            }

            fn put_part(of: &$list<$($item),+>, out: &mut Writer) {
                F::put(of, out);
            }

            fn get_part(of: &mut $list<$($item),+>, r: &mut Reader<'_>) -> Result<()> {
                *of = F::get(r)?;
                if of.is_empty() { Err(Corrupt) } else { Ok(()) }
            }
        })+
    };
}

lists_as_parts!(Vec<T>, BTreeSet<T>, BTreeMap<K, V>);

/// The tag alone says it.
impl Part<bool> for Own {
    fn is_absent(of: &bool) -> bool {
        !*of
    }

    fn put_part(_: &bool, _: &mut Writer) {}

    fn get_part(of: &mut bool, _: &mut Reader<'_>) -> Result<()> {
        *of = true;
        Ok(())
    }
}
