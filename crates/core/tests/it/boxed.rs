//! Commands of several kinds in one list.

use chorus_core::commands::{Command, NotDone};
use chorus_core::model::caller::By;

use crate::house::House;

type Run = dyn Fn(&mut House, By) -> Result<(), NotDone>;

pub struct Boxed {
    pub name: &'static str,
    run: Box<Run>,
}

pub fn boxed<C: Command>(command: C) -> Boxed {
    let name = command.name();
    let run = move |house: &mut House, by| house.try_run(by, command.clone()).map(drop);
    Boxed { name, run: Box::new(run) }
}

impl Boxed {
    pub fn run(&self, house: &mut House, by: By) -> Result<(), NotDone> {
        (self.run)(house, by)
    }
}
