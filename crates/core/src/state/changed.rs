//! Structs whose fields each hold something to be written. They are declared once, and the check
//! for pending writes is derived from the fields, so that a new field cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

/// Reports whether a field of changes has anything to write.
pub(crate) trait Changed {
    /// Whether there is something to write.
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

/// Declares a struct of changes with its fields in groups. Each group gets a method with the given
/// name, which says whether any of its fields has changed.
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
