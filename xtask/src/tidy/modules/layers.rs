//! The order of the top-level modules of a crate.

/// Each crate whose top-level modules are layers, lowest first: a module may use those before it.
///
/// Every top-level file and folder of such a crate stands here. A crate without an entry may have
/// any arrows that make no circle.
pub(super) const LAYERS: [(&str, &[&str]); 1] = [
    ("chorus-core", &["model", "language", "codec", "state", "attention", "commands", "queries"]),
    // The server's place: transport, services, dispatch, auth, config, telemetry, egress, …
];
