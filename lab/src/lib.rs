//! What is measured and broken on purpose: benchmarks beside limits and peers, and the tests that kill
//! the host under load, and the referee that holds it to the rules of the spec.
//!
//! Nothing here is shipped. The benchmarks speak to the host as any client does, over its transports, and
//! know no crate of it; a figure never depends on a shortcut that a user does not have. Only the simulation of many hosts
//! calls one of its functions: the one that chooses a host.

pub mod bench;
pub mod crash;
pub mod lossy;
pub mod referee;
