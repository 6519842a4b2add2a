//! UUIDs that others chose, in the usual form. Any version is accepted: the registry spec's own
//! example of a job id is not v4.

/// Reads `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`, in either case. The nil UUID names nothing.
pub(super) fn read(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    let is_dash = |n: usize| matches!(n, 8 | 13 | 18 | 23);
    if bytes.len() != 36 {
        return None;
    }
    let mut value = 0_u128;
    for (n, byte) in bytes.iter().enumerate() {
        if is_dash(n) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        value = value << 4 | u128::from(char::from(*byte).to_digit(16)?);
    }
    (value != 0).then_some(value)
}

/// The lower-case form.
pub(super) fn show(value: u128) -> String {
    let hex = format!("{value:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: REG-1
    #[test]
    fn a_uuid_of_any_version_reads_back_and_nothing_else_does() {
        let text = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
        assert_eq!(read(text).map(show).as_deref(), Some(text));
        assert_eq!(read(&text.to_uppercase()).map(show).as_deref(), Some(text));
        for bad in [
            "",
            "f81d4fae7dec11d0a76500a0c91e6bf6",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf67",
            "f81d4fae-7dec-11d0-a765_00a0c91e6bf6",
            "+81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "00000000-0000-0000-0000-000000000000",
            "ä1d4fae-7dec-11d0-a765-00a0c91e6bf66",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
