//! Structs of which each field is something to be written. They are declared once: whether nothing is to be
//! written is derived from the fields, so that a new one cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

/// What a field of changes can say of itself.
pub(crate) trait Changed {
    /// Whether there is something to be written.
    fn is_changed(&self) -> bool;
}

impl Changed for bool {
    fn is_changed(&self) -> bool {
        *self
    }
}

impl Changed for usize {
    fn is_changed(&self) -> bool {
        *self > 0
    }
}

impl<T> Changed for Option<T> {
    fn is_changed(&self) -> bool {
        self.is_some()
    }
}

impl<T> Changed for Vec<T> {
    fn is_changed(&self) -> bool {
        !self.is_empty()
    }
}

impl<T> Changed for BTreeSet<T> {
    fn is_changed(&self) -> bool {
        !self.is_empty()
    }
}

impl<K, V> Changed for BTreeMap<K, V> {
    fn is_changed(&self) -> bool {
        !self.is_empty()
    }
}

/// Declares a struct of changes, its fields in groups. Each group has a method by the name that it is given, which
/// says whether any field of it is changed.
macro_rules! changes {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $( $(#[$says:meta])* $has:ident {
                $( $(#[$about:meta])* pub $field:ident: $type:ty, )*
            } )*
        }
    ) => {
        $(#[$doc])*
        pub struct $name {
            $( $( $(#[$about])* pub $field: $type, )* )*
        }

        impl $name {
            $(
                $(#[$says])*
                pub fn $has(&self) -> bool {
                    false $( || $crate::state::changed::Changed::is_changed(&self.$field) )*
                }
            )*
        }
    };
}

pub(crate) use changes;
