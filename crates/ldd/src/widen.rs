//! Further levels: the vectors of a set with new values among the old ones.

use crate::nodes::Set;
use crate::{Full, Ldd};
use std::collections::HashMap;

impl Ldd {
    /// The vectors of a set, longer: `plan` has for each level of the result the value that all vectors have
    /// there, or nothing for a level of the set. The order of the levels of the set stays as it is.
    pub fn widen(&mut self, set: Set, plan: &[Option<u32>]) -> Result<Set, Full> {
        self.widened(set, plan, &mut HashMap::new())
    }

    fn widened(
        &mut self,
        set: Set,
        plan: &[Option<u32>],
        known: &mut HashMap<(Set, usize), Set>,
    ) -> Result<Set, Full> {
        let Some((first, rest)) = plan.split_first() else { return Ok(set) };
        if set.is_empty() {
            return Ok(set);
        }
        if let Some(&result) = known.get(&(set, plan.len())) {
            return Ok(result);
        }
        let result = match first {
            Some(value) => {
                let down = self.widened(set, rest, known)?;
                self.nodes.make(*value, down, Set::EMPTY)?
            }
            None => {
                let list: Vec<_> = self.list(set).collect();
                let mut longer = Set::EMPTY;
                for node in list.into_iter().rev() {
                    let down = self.widened(node.down, rest, known)?;
                    longer = self.nodes.make(node.value, down, longer)?;
                }
                longer
            }
        };
        known.insert((set, plan.len()), result);
        Ok(result)
    }

    /// Forgets what operations gave: the levels mean something else from now on.
    pub fn forget(&mut self) {
        self.cache.clear();
    }
}
