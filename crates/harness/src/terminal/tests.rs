mod support;

mod programs;
