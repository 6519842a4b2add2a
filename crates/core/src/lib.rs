//! Everything Chorus can decide without asking the world.
//!
//! No I/O, no clock, no randomness and no wire format in here: time and ids are passed in, and every
//! rule is a function from facts to a decision. That is what makes a policy table a table test and a
//! week of traffic a one-second simulation.
//!
//! Reading order: [`ids`] and [`member`] name who there is; [`conversation`], [`thread`] and [`event`]
//! what is said; [`attention`] decides who is meant and what they owe; [`delivery`] and [`claim`] follow
//! an obligation to its end; [`room`] holds one conversation's facts, and [`workspace`] runs commands
//! against rooms.

pub mod ids;
pub mod member;
pub mod name;

pub mod conversation;
pub mod event;
pub mod packed;
pub mod reaction;
pub mod thread;
pub mod turn;
pub mod work;

pub mod asset;
pub mod search;

pub mod attention;

pub mod approval;
pub mod audit;
pub mod budget;
pub mod claim;
pub mod command;
pub mod delivery;
pub mod digest;
pub mod inbox;
pub mod project;
pub mod schedule;
pub mod stimulus;
pub mod token;

pub mod room;
pub mod workspace;

pub mod commands;
pub mod queries;

pub mod endpoint;
pub mod error;
pub mod limits;
