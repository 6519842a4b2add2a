mod support;

mod detach;
mod foreground;
mod injecting;
mod keys;
mod plans;
mod programs;
mod screens;
mod watching;
