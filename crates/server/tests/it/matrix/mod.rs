//! Who may do what: every operation for everybody who may call, and for every kind of token that is good for nothing.
//!
//! The operations are the host's own lists: the OpenAPI document, the tools, and the methods of C2A. Each has a row in a table
//! beside this file, and one without a row fails ([`table`] reads them, CONTRIBUTING.md says how one is added). A cell that is
//! answered otherwise is named with its operation, its caller, and both answers.
//!
//! Every table runs on one host ([`world`]). What a caller may do is done to something made for that cell; what is refused
//! changes nothing, which [`refused`] looks at for all operations together.

mod calls;
mod operations;
mod refused;
mod secrets;
mod sensitive;
mod table;
mod world;
