//! Jobs for hire: asked for, delivered, settled, contested (registry spec sections 3.3 and 3.4).

mod cancel;
mod deliver;
mod dispute;
mod due;
mod end;
mod evaluate;
mod lookup;
mod posted;
mod request;

pub use cancel::Cancel;
pub use deliver::{Deliver, Delivered, ReportProgress};
pub use dispute::{DecideDispute, Dispute};
pub use evaluate::Evaluate;
pub use posted::JobPosted;
pub use request::{Request, Requested};
