//! The mix of one program: a weight for every optional language feature.

use crate::rng::Rng;

/// An optional feature of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    Atomic,
    DStep,
    Unless,
    Rendezvous,
    Buffered,
    Sorted,
    Random,
    Peek,
    Poll,
    Probe,
    ChanArray,
    ChanInMessage,
    LocalChan,
    ChanField,
    Mtype,
    Typedef,
    Array,
    Unsigned,
    Wide,
    Hidden,
    Init,
    Run,
    Provided,
    Priority,
    Goto,
    Labels,
    For,
    Select,
    Inline,
    InlineReturn,
    Macro,
    Ifdef,
    Cond,
    Timeout,
    Else,
    Remote,
    Enabled,
    Last,
    NrPr,
    Assert,
    Print,
    Declare,
    Reuse,
    Deterministic,
    Exclusive,
    Trace,
    Claim,
    Truncate,
    PcValue,
}

/// The number of features.
const COUNT: usize = Feature::PcValue as usize + 1;

/// The weights drawn for one program.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    weights: [u32; COUNT],
}

/// These belong to few programs: they change the meaning of everything else.
const RARE: [Feature; 10] = [
    Feature::Priority,
    Feature::Provided,
    Feature::Enabled,
    Feature::Last,
    Feature::Deterministic,
    Feature::Exclusive,
    Feature::Trace,
    Feature::Claim,
    Feature::PcValue,
    Feature::Truncate,
];

impl Mix {
    /// Draws a mix: a feature is left out, present or favoured.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let mut weights = [0; COUNT];
        for weight in &mut weights {
            *weight = match rng.below(10) {
                0..=3 => 0,
                4..=7 => 2,
                _ => 6,
            };
        }
        for feature in RARE {
            let keep = rng.chance(match feature {
                Feature::Deterministic | Feature::Enabled => 8,
                Feature::Priority => 14,
                Feature::Trace | Feature::Claim => 10,
                _ => 22,
            });
            weights[feature as usize] = if keep { 3 } else { 0 };
        }
        // Spin's verifier has no rendezvous together with priorities, its front end none with `enabled()`.
        let alone = weights[Feature::Priority as usize] > 0 || weights[Feature::Enabled as usize] > 0;
        if weights[Feature::Priority as usize] > 0 {
            // Its priorities ask whether processes are enabled, and one such question inside another goes
            // wrong.
            weights[Feature::Enabled as usize] = 0;
        }
        if alone {
            weights[Feature::Rendezvous as usize] = 0;
        }
        if weights[Feature::Rendezvous as usize] + weights[Feature::Buffered as usize] == 0 {
            weights[Feature::Buffered as usize] = 2;
        }
        Mix { weights }
    }

    /// The weight of a feature: 0 when the program leaves it out.
    pub(super) fn weight(&self, feature: Feature) -> u32 {
        self.weights[feature as usize]
    }

    /// Whether the program may use a feature.
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.weight(feature) > 0
    }
}
