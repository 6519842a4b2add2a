//! The ledger: minting, transfers, and what members may spend (registry spec section 3.5).

mod mint;
pub(crate) mod posting;
mod spending;
mod transfer;

pub use mint::Mint;
pub use spending::LimitSpending;
pub use transfer::{Transfer, Transferred};
