//! Keys: what the store is asked for a state. Values that the model declared hidden lie at the end of a state
//! and make no difference between two of them.

/// The part of a state that makes it different from others.
#[inline(always)]
pub(crate) fn key(state: &[u8], hidden: usize) -> &[u8] {
    debug_assert!(hidden <= state.len(), "hidden values are part of the state");
    state.get(..state.len().saturating_sub(hidden)).unwrap_or_default()
}
