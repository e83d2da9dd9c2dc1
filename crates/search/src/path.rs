//! Parent links: from a state back to the beginning, for searches that do not have the path on a stack.
//!
//! A link is 16 bytes: the parent, the depth, and the action that led here. When several actions did (an atomic
//! sequence), the word is instead their place in a common list; how many there are follows from the two depths.

use std::collections::TryReserveError;
use store::StateId;
use system::ActionId;

/// Parent links of the states 0, 1, 2 … of a store.
#[derive(Debug, Default)]
pub struct Ancestry {
    parents: Vec<u32>,
    depths: Vec<u32>,
    words: Vec<u64>,
    runs: Vec<ActionId>,
}

impl Ancestry {
    /// Links a state to the parent from which `actions` lead to it. A state that has a link gets a new one.
    /// The initial state is its own parent, with no actions. The error is that there is no memory for it.
    pub fn link(
        &mut self,
        state: StateId,
        parent: StateId,
        actions: &[ActionId],
    ) -> Result<(), TryReserveError> {
        let at = state.index();
        self.runs.try_reserve(actions.len())?;
        if at >= self.parents.len() {
            let more = at + 1 - self.parents.len();
            self.parents.try_reserve(more)?;
            self.depths.try_reserve(more)?;
            self.words.try_reserve(more)?;
            self.parents.resize(at + 1, 0);
            self.depths.resize(at + 1, 0);
            self.words.resize(at + 1, 0);
        }
        self.parents[at] = parent.0;
        let before = if state == parent { 0 } else { self.depths[parent.index()] };
        self.depths[at] = before.saturating_add(actions.len() as u32);
        self.words[at] = match actions {
            [action] => action.0,
            _ => {
                self.runs.extend_from_slice(actions);
                (self.runs.len() - actions.len()) as u64
            }
        };
        Ok(())
    }

    /// How many steps lead to the state.
    pub fn depth(&self, state: StateId) -> u64 {
        u64::from(self.depths[state.index()])
    }

    /// The steps from the initial state.
    pub fn path(&self, mut state: StateId) -> Vec<ActionId> {
        let mut path = Vec::with_capacity(self.depths[state.index()] as usize);
        while self.depths[state.index()] > 0 {
            let parent = StateId(self.parents[state.index()]);
            let steps = (self.depths[state.index()] - self.depths[parent.index()]) as usize;
            let word = self.words[state.index()];
            match steps {
                1 => path.push(ActionId(word)),
                _ => path.extend(self.runs[word as usize..word as usize + steps].iter().rev()),
            }
            state = parent;
        }
        path.reverse();
        path
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        let words = (self.words.capacity() + self.runs.capacity()) * 8;
        (words + (self.parents.capacity() + self.depths.capacity()) * 4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(ids: &[u64]) -> Vec<ActionId> {
        ids.iter().copied().map(ActionId).collect()
    }

    #[test]
    fn paths_lead_back_through_runs() {
        let mut ancestry = Ancestry::default();
        let id = StateId;
        ancestry.link(id(0), id(0), &[]).unwrap();
        ancestry.link(id(1), id(0), &actions(&[7])).unwrap();
        ancestry.link(id(2), id(1), &actions(&[8, 9, 10])).unwrap();
        ancestry.link(id(3), id(2), &actions(&[11])).unwrap();
        assert_eq!(ancestry.path(id(0)), []);
        assert_eq!(ancestry.path(id(3)), actions(&[7, 8, 9, 10, 11]));
        assert_eq!(ancestry.depth(id(3)), 5);
        ancestry.link(id(3), id(1), &actions(&[12, 13])).unwrap();
        assert_eq!(ancestry.path(id(3)), actions(&[7, 12, 13]));
    }
}
