//! Random Promela programs that are well-typed and bounded by construction.
//!
//! A program is a pure function of its seed. Each seed first draws a *mix*: which language features it
//! favours and which it leaves out ("swarm testing"), so that small programs still make rare features meet
//! each other. Values are kept small by masks, remainders and guards, so that the reachable graph stays
//! small.

mod declare;
mod expr;
mod extras;
mod message;
mod mix;
mod process;
mod scope;
mod stmt;

use crate::model::Model;
use crate::rng::Rng;

use mix::Mix;
use scope::World;

/// How large the programs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Two or three short processes.
    Small,
    /// Up to four processes with deeper nesting.
    Medium,
}

impl Size {
    /// The number of process instances wanted.
    fn instances(self) -> (i64, i64) {
        match self {
            Size::Small => (2, 3),
            Size::Medium => (2, 3),
        }
    }

    /// The length of a process body, in statements.
    fn body(self) -> (i64, i64) {
        match self {
            Size::Small => (2, 4),
            Size::Medium => (3, 5),
        }
    }

    /// How deep statements nest.
    fn depth(self) -> u32 {
        match self {
            Size::Small => 2,
            Size::Medium => 3,
        }
    }
}

/// Generates the program that belongs to `seed`.
pub fn generate(seed: u64, size: Size) -> Model {
    let mut rng = Rng::new(seed);
    let mix = Mix::draw(&mut rng);
    let mut generator = Generator {
        rng,
        mix,
        size,
        model: Model::default(),
        world: World::default(),
        names: 0,
        faults: seed % 16 == 3,
    };
    generator.declare_globals();
    generator.plan_processes();
    generator.define_inlines();
    generator.write_processes();
    generator.add_pumps();
    generator.add_trace();
    generator.add_claim();
    generator.model
}

/// The state of one generation.
struct Generator {
    rng: Rng,
    mix: Mix,
    size: Size,
    model: Model,
    world: World,
    /// Counts the names given out.
    names: usize,
    /// Whether run-time faults may be planted.
    faults: bool,
}

impl Generator {
    /// Returns a name that no other part of the program has.
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::print;

    #[test]
    fn a_seed_names_one_program() {
        for seed in 0..50 {
            assert_eq!(generate(seed, Size::Small), generate(seed, Size::Small));
        }
        assert_ne!(print(&generate(1, Size::Small)), print(&generate(2, Size::Small)));
    }

    #[test]
    fn every_program_has_a_process() {
        for seed in 0..300 {
            let model = generate(seed, Size::Medium);
            assert!(!model.procs.is_empty(), "seed {seed}");
            assert!(model.procs.iter().all(|p| !p.body.is_empty()), "seed {seed}");
        }
    }
}
