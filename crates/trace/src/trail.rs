//! A path kept as action ids, with all that is needed to find and rebuild the model that it belongs to.

use system::{ActionId, Fault, Sequence, StepInfo};

/// The JSON form of a trail that tells each step.
pub const FORMAT: u64 = 1;
/// The JSON form of a long trail: each statement once, and the path packed. The newest form that is read.
pub const PACKED_FORMAT: u64 = 2;
/// Steps that are told one by one; longer trails are packed.
pub const TOLD_STEPS: usize = 100_000;

/// A counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// The version of the tool that wrote it.
    pub version: String,
    /// The model's path as it was given.
    pub model: String,
    /// The model's absolute path, where it could be had.
    pub model_absolute: Option<String>,
    /// A fingerprint of the text of all files of the model (see [`fingerprint`]).
    pub fingerprint: u64,
    /// How the model was read.
    pub options: ModelOptions,
    /// The property that is violated, as `--property` names it.
    pub property: String,
    /// Whether channels had to be empty at a valid end.
    pub channels_empty: bool,
    /// The run was to be fair: `weak`.
    pub fair: Option<String>,
    /// For a run that does not end: how many steps come before those that are repeated forever. When these
    /// are none, the last state is.
    pub cycle: Option<usize>,
    /// What is wrong at the end of the path.
    pub violation: Fault,
    /// The path.
    pub steps: Sequence<TrailStep>,
}

/// How a model is read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ModelOptions {
    /// `spin` or `pv`.
    pub dialect: String,
    /// `-DNAME=VALUE`, `-UNAME` and `-IDIR`, in their order.
    pub preprocessor: Vec<String>,
    /// A formula that is checked as if it stood in the model, as `ltl cli`.
    pub formula: Option<String>,
    /// The same for `ctl cli`.
    pub ctl: Option<String>,
    /// The same for `mu cli`.
    pub mu: Option<String>,
    /// A file with a never claim that is read as if the model included it.
    pub claim: Option<String>,
    /// Expressions that label the states of a graph; trails have none.
    pub labels: Vec<String>,
    /// A full channel loses what is sent to it.
    pub lossy_channels: bool,
    /// Store buffers between processes and memory; none is sequential consistency.
    pub memory: Option<MemoryOptions>,
}

/// Where a fence stands: the numbers of a proctype and of an edge, and whether it stands behind the edge.
pub type FencePlace = (u32, u32, bool);

/// A weak memory model for a model that was written without one in mind.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MemoryOptions {
    /// `tso` or `pso`.
    pub model: String,
    /// Entries of a buffer.
    pub bound: u32,
    /// Variables that are not buffered.
    pub plain: Vec<String>,
    /// Statements with several loads of shared variables are taken apart.
    pub split: bool,
    /// Fences that are tried: the proctype and the edge of a statement, and whether behind it; trails have none.
    pub fences: Vec<FencePlace>,
}

impl Trail {
    /// The actions of the path.
    pub fn actions(&self) -> impl Iterator<Item = ActionId> + Clone + '_ {
        self.steps.iter().map(|step| step.action)
    }
}

/// A step of a trail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrailStep {
    /// What is replayed.
    pub action: ActionId,
    /// The step in words, for people and other tools, and for a trail that no longer fits its model. In a
    /// long trail, as it was when the action was taken first.
    pub info: Option<StepInfo>,
}

/// The 64-bit FNV-1a hash of some texts, each followed by a zero byte: tells a changed model, no more.
pub fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_see_every_byte_and_every_boundary() {
        assert_eq!(fingerprint([]), 0xcbf2_9ce4_8422_2325);
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_ne!(fingerprint(["ab"]), fingerprint(["ab", ""]));
        assert_eq!(fingerprint(["x = 1"]), fingerprint(["x = 1"]));
    }
}
