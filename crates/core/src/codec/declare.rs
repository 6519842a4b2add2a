//! The declarations of what is stored. Each makes both directions out of one list of fields, which stand in
//! the order of their bytes. The compiler says which field of the type the list lacks.

/// The public pair of functions that a row, or another stored value of its own, is written and read with:
/// `row!(NAME, read_NAME: Type)`, and `room |it| bytes` where its size is known before.
macro_rules! row {
    (@writer $value:ident, $type:ty) => { $crate::codec::Writer::default() };
    (@writer $value:ident, $type:ty, $room:expr) => {{
        let room: fn(&$type) -> usize = $room;
        $crate::codec::Writer::with_room(room($value))
    }};
    ($(#[$doc:meta])* $put:ident, $get:ident: $type:ty $(, room $room:expr)?) => {
        $(#[$doc])*
        pub fn $put(value: &$type) -> Vec<u8> {
            let mut out = row!(@writer value, $type $(, $room)?);
            $crate::codec::stored::Stored::put(value, &mut out);
            out.0
        }

        #[doc = concat!("Reads what [`", stringify!($put), "`] wrote.")]
        pub fn $get(bytes: &[u8]) -> $crate::codec::Result<$type> {
            $crate::codec::read(bytes)
        }
    };
}

/// How a struct is stored.
///
/// ```text
/// record!(Name {
///     field,                      // by its type's own encoding
///     field: Form,                // by another, see `form`
///     one + two: Form,            // fields that share an encoding
/// } then Rest                     // irregular bytes at the end, over the whole record
///   if |it| is_valid(it));        // other values are corrupt
///
/// record!(Name { field } tagged {
///     1 = field,                  // takes no space while it is absent; tags rise
///     2 = field: Form,
///     3 => Part,                  // over the whole record
/// } until End { field });         // `End` says where the parts end; fields may follow
/// ```
///
/// A field that comes later is `field: Trailing` at the end of a row, or takes the next tag: rows from before
/// it read as they did.
macro_rules! record {
    (@form) => { $crate::codec::stored::Own };
    (@form $form:ty) => { $form };
    (@names $field:ident) => { $field };
    (@names $field:ident $(+ $with:ident)+) => { ($field, $($with),+) };
    (@put $out:ident, $it:expr, $field:ident $(: $form:ty)?) => {
        <record!(@form $($form)?) as $crate::codec::stored::Form<_>>::put(&$it.$field, $out)
    };
    (@put $out:ident, $it:expr, $field:ident $(+ $with:ident)+: $form:ty) => {
        <$form as $crate::codec::stored::Form<_>>::put(&($it.$field, $($it.$with),+), $out)
    };
    (@get $r:ident $(, $form:ty)?) => {
        <record!(@form $($form)?) as $crate::codec::stored::Form<_>>::get($r)?
    };
    (@put_part $out:ident, $above:ident, $tag:literal, $of:expr $(, $form:ty)?) => {
        if $tag > $above && !<record!(@form $($form)?) as Part<_>>::is_absent($of) {
            $out.byte($tag);
            <record!(@form $($form)?) as Part<_>>::put_part($of, $out);
        }
    };
    (@rest $it:ident, $r:ident, $rest:ident) => {{
        let mut it = $it;
        <$rest as $crate::codec::stored::Rest<Self>>::get_rest(&mut it, $r)?;
        it
    }};
    (@check $it:ident, $valid:expr) => {
        let valid: fn(&Self) -> bool = $valid;
        if !valid(&$it) {
            return Err($crate::codec::Corrupt);
        }
    };
    (
        $name:path { $($field:ident $(+ $with:ident)* $(: $form:ty)?),* $(,)? }
        $(then $rest:ident)? $(if $valid:expr)?
    ) => {
        impl $crate::codec::stored::Stored for $name {
            fn put(&self, out: &mut $crate::codec::Writer) {
                $(record!(@put out, self, $field $(+ $with)* $(: $form)?);)*
                $(<$rest as $crate::codec::stored::Rest<Self>>::put_rest(self, out);)?
            }

            fn get(r: &mut $crate::codec::Reader<'_>) -> $crate::codec::Result<Self> {
                $(let record!(@names $field $(+ $with)*) = record!(@get r $(, $form)?);)*
                let it = Self { $($field, $($with,)*)* };
                $(let it = record!(@rest it, r, $rest);)?
                $(record!(@check it, $valid);)?
                Ok(it)
            }
        }
    };
    (
        $name:path { $($field:ident $(: $form:ty)?),* $(,)? }
        tagged { $($tag:literal $(= $part:ident $(: $part_form:ty)?)? $(=> $whole:ty)?),+ $(,)? }
        until $end:ident $({ $($tail:ident $(: $tail_form:ty)?),+ $(,)? })?
    ) => {
        impl $crate::codec::stored::Stored for $name {
            fn put(&self, out: &mut $crate::codec::Writer) {
                use $crate::codec::stored::Parts;
                $(record!(@put out, self, $field $(: $form)?);)*
                self.put_parts(0, out);
                $($(record!(@put out, self, $tail $(: $tail_form)?);)+)?
            }

            fn get(r: &mut $crate::codec::Reader<'_>) -> $crate::codec::Result<Self> {
                use $crate::codec::stored::Parts;
                let mut it = Self {
                    $($field: record!(@get r $(, $form)?),)*
                    $($($part: Default::default(),)?)+
                    $($($tail: Default::default(),)+)?
                };
                it.get_parts(r)?;
                $($(it.$tail = record!(@get r $(, $tail_form)?);)+)?
                Ok(it)
            }
        }

        const _: () = assert!($crate::codec::stored::rise(&[$($tag),+]), "tags rise");

        impl $crate::codec::stored::Parts for $name {
            fn put_parts(&self, above: u8, out: &mut $crate::codec::Writer) {
                use $crate::codec::stored::{End, Part};
                $(
                    $(record!(@put_part out, above, $tag, &self.$part $(, $part_form)?);)?
                    $(record!(@put_part out, above, $tag, self, $whole);)?
                )+
                <$end as End<Self>>::put(self, out);
            }

            fn get_parts(&mut self, r: &mut $crate::codec::Reader<'_>) -> $crate::codec::Result<()> {
                use $crate::codec::stored::{End, Part};
                let mut tag = <$end as End<Self>>::next(r)?;
                $(if tag == $tag {
                    $(<record!(@form $($part_form)?) as Part<_>>::get_part(&mut self.$part, r)?;)?
                    $(<$whole as Part<Self>>::get_part(self, r)?;)?
                    tag = <$end as End<Self>>::next(r)?;
                })+
                <$end as End<Self>>::get(self, tag, r)
            }
        }
    };
}

/// How an enum is stored: `cases!(Name { 1 = Case, 2 = Case(value), 3 = Case { field, field: Form } })`.
/// A tag is never reused.
macro_rules! cases {
    (@value $value:ident, $r:ident) => { $crate::codec::stored::Stored::get($r)? };
    ($name:ident {
        $($tag:literal = $case:ident
            $(($value:ident))? $({ $($field:ident $(: $form:ty)?),+ $(,)? })?),+ $(,)?
    }) => {
        impl $crate::codec::stored::Cases for $name {
            fn tag(&self) -> u8 {
                match self { $(Self::$case { .. } => $tag),+ }
            }

            fn put_fields(&self, out: &mut $crate::codec::Writer) {
                match self {
                    $(Self::$case $(($value))? $({ $($field),+ })? => {
                        $($crate::codec::stored::Stored::put($value, out);)?
                        $($(
                            <record!(@form $($form)?) as $crate::codec::stored::Form<_>>::put(
                                $field, out,
                            );
                        )+)?
                    })+
                }
            }

            fn get_fields(
                tag: u8,
                r: &mut $crate::codec::Reader<'_>,
            ) -> $crate::codec::Result<Self> {
                Ok(match tag {
                    $($tag => Self::$case
                        $((cases!(@value $value, r)))?
                        $({ $($field: record!(@get r $(, $form)?)),+ })?,)+
                    _ => return Err($crate::codec::Corrupt),
                })
            }
        }

        impl $crate::codec::stored::Stored for $name {
            fn put(&self, out: &mut $crate::codec::Writer) {
                use $crate::codec::stored::Cases;
                out.byte(self.tag());
                self.put_fields(out);
            }

            fn get(r: &mut $crate::codec::Reader<'_>) -> $crate::codec::Result<Self> {
                use $crate::codec::stored::Cases;
                let tag = r.byte()?;
                Self::get_fields(tag, r)
            }
        }
    };
}

/// Types whose default takes no space as a part of a record.
macro_rules! default_is_absent {
    ($($name:ty),+) => {
        $(impl $crate::codec::stored::Part<$name> for $crate::codec::stored::Own {
            fn is_absent(of: &$name) -> bool {
                *of == <$name>::default()
            }

            fn put_part(of: &$name, out: &mut $crate::codec::Writer) {
                $crate::codec::stored::Stored::put(of, out);
            }

            fn get_part(
                of: &mut $name,
                r: &mut $crate::codec::Reader<'_>,
            ) -> $crate::codec::Result<()> {
                *of = $crate::codec::stored::Stored::get(r)?;
                Ok(())
            }
        })+
    };
}
