//! Every transition of a wake.
