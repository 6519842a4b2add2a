//! Names that are like one that nobody has.

/// How like a name must be to be suggested, up to 1.
const LIKE: f64 = 0.6;

/// The first letters of a name suggest it, if there are so many.
const BEGINNING: usize = 3;

/// The name most like this one, if any is like it at all.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    alike(name, names).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// The names that are like this one, with how like they are.
pub(super) fn alike<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (f64, &'a str)> {
    let wanted = name.to_lowercase();
    let begins = wanted.chars().count() >= BEGINNING;
    let scored = names.map(move |other| {
        let folded = other.to_lowercase();
        let like = strsim::normalized_damerau_levenshtein(&wanted, &folded);
        let like = if begins && folded.starts_with(&wanted) { like.max(LIKE) } else { like };
        (like, other)
    });
    scored.filter(|(like, _)| *like >= LIKE)
}
