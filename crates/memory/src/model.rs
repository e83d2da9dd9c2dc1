//! Memory models that a system can be held against, and the tests that each of them must pass.
//!
//! SC, PRAM, processor consistency (Goodman's) and coherence are sets of Collier's rules; TSO and PSO are not
//! (a forwarded read sees a write that is not yet in the own store), they are defined by their axioms. The
//! sets of tests are those that were checked on operational memories of each model.

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order: SPARC TSO, x86.
    Tso,
    /// Partial store order: SPARC PSO.
    Pso,
    /// Processor consistency as Goodman defined it: PRAM and coherence.
    Pc,
    /// Pipelined RAM: writes of each processor are seen in their order.
    Pram,
    /// Coherence: each address on its own is sequentially consistent.
    Coherent,
}

impl Model {
    /// All models, the strongest first.
    pub const ALL: [Model; 6] = [Model::Sc, Model::Tso, Model::Pso, Model::Pc, Model::Pram, Model::Coherent];

    /// As `--model` names it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Pc => "pc",
            Model::Pram => "pram",
            Model::Coherent => "coherent",
        }
    }

    /// The model of this name.
    pub fn of(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|model| model.name() == name)
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Model::Sc => "sequential consistency",
            Model::Tso => "total store order",
            Model::Pso => "partial store order",
            Model::Pc => "processor consistency",
            Model::Pram => "PRAM",
            Model::Coherent => "coherence",
        }
    }

    /// Whether a fence means something in this model.
    pub fn has_fences(self) -> bool {
        matches!(self, Model::Sc | Model::Tso | Model::Pso)
    }

    /// Whether a system of this model must pass the test of this name.
    pub fn requires(self, test: &str) -> bool {
        let weaker = |but: &[&str]| !but.contains(&test);
        if test.starts_with("fence") {
            return self.has_fences();
        }
        match self {
            Model::Sc => true,
            Model::Tso => weaker(&["pos", "po_wr", "wa_self"]),
            Model::Pso => weaker(&["pos", "po_wr", "wa_self", "rowo2", "con_wo"]),
            Model::Pram => ["cmp", "upo", "upo2", "rowo1", "rowo2", "pos"].contains(&test),
            Model::Pc => ["cmp", "upo", "upo2", "rowo1", "rowo2", "pos", "con", "con_wo"].contains(&test),
            Model::Coherent => ["cmp", "upo", "upo2", "rowo1", "con"].contains(&test),
        }
    }
}

/// The names of the models, for messages.
pub fn names() -> Vec<&'static str> {
    Model::ALL.into_iter().map(Model::name).collect()
}
