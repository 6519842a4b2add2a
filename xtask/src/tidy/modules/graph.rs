//! Circles in a graph: its strongly connected components (Tarjan's algorithm).

use std::collections::{BTreeMap, BTreeSet};

/// Each node and those that it has an arrow to.
pub(super) type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Every set of more than one node that all reach one another, sorted.
pub(super) fn circles<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let mut search =
        Search { arrows, places: BTreeMap::new(), open: Vec::new(), found: Vec::new() };
    for node in arrows.keys() {
        if !search.places.contains_key(node) {
            search.visit(node);
        }
    }
    search.found.sort();
    search.found
}

struct Search<'a, 's> {
    arrows: &'s Arrows<'a>,
    /// The order in which nodes were visited.
    places: BTreeMap<&'a str, usize>,
    /// Visited nodes whose circle is not yet known.
    open: Vec<&'a str>,
    found: Vec<BTreeSet<&'a str>>,
}

impl<'a> Search<'a, '_> {
    /// The earliest open node that `node` reaches.
    fn visit(&mut self, node: &'a str) -> usize {
        let place = self.places.len();
        self.places.insert(node, place);
        self.open.push(node);
        let mut earliest = place;
        let arrows = self.arrows;
        for next in arrows.get(node).into_iter().flatten() {
            earliest = earliest.min(match self.places.get(next) {
                None => self.visit(next),
                Some(seen) if self.open.contains(next) => *seen,
                Some(_) => earliest,
            });
        }
        if earliest == place
            && let Some(start) = self.open.iter().position(|open| *open == node)
        {
            let circle: BTreeSet<&str> = self.open.drain(start..).collect();
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &'static str) -> Vec<String> {
        let mut arrows = Arrows::new();
        for (from, to) in text.split_whitespace().filter_map(|arrow| arrow.split_once('>')) {
            arrows.entry(from).or_default().insert(to);
        }
        circles(&arrows).iter().map(|c| c.iter().copied().collect::<String>()).collect()
    }

    #[test]
    fn circles_are_found_whole_and_apart() {
        let none: [&str; 0] = [];
        assert_eq!(found("a>b b>c a>c"), none);
        assert_eq!(found("a>b b>a"), ["ab"]);
        assert_eq!(found("a>b b>c c>a c>d d>e e>d x>a"), ["abc", "de"]);
        assert_eq!(found("a>b b>c c>b c>d d>a"), ["abcd"]);
        assert_eq!(found("a>b b>a c>a c>d d>c"), ["ab", "cd"]);
    }
}
