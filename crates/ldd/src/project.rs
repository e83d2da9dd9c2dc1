//! Projection: the values that vectors have at some levels.

use crate::cache::{Key, Operation};
use crate::nodes::{Node, Set};
use crate::relation::Group;
use crate::{Full, Ldd};

impl Ldd {
    /// The values at the levels that a group reads, of a set whose first level is `level`; without those for
    /// which the group has no steps.
    pub fn project(&mut self, set: Set, group: &Group, level: usize) -> Result<Set, Full> {
        match group.last_read() {
            Some(last) if level <= last && !set.is_empty() => {}
            // Nothing is kept from here on.
            _ => return Ok(if set.is_empty() { Set::EMPTY } else { Set::UNIT }),
        }
        let key = Key::at(Operation::Project, group.number, level, [set, Set::EMPTY, Set::EMPTY]);
        if let Some(known) = self.cache.get(key) {
            return Ok(known);
        }
        let result = match group.access(level).reads() {
            true => self.project_list(set, group, level)?,
            false => self.project_below(set, group, level)?,
        };
        self.remember(key, result);
        Ok(result)
    }

    /// The level is kept: the list stays, and each tail is projected.
    fn project_list(&mut self, set: Set, group: &Group, level: usize) -> Result<Set, Full> {
        let (mut values, mut rest) = (Vec::new(), set);
        let only = group.values(level);
        while !rest.is_terminal() {
            let Node { value, down, right } = self.nodes.get(rest);
            if only.is_none_or(|only| only.binary_search(&value).is_ok()) {
                values.push((value, self.project(down, group, level + 1)?));
            }
            rest = right;
        }
        values
            .into_iter()
            .rev()
            .try_fold(Set::EMPTY, |right, (value, down)| self.nodes.make(value, down, right))
    }

    /// The level is left out: what follows any of its values.
    fn project_below(&mut self, set: Set, group: &Group, level: usize) -> Result<Set, Full> {
        let (mut all, mut rest) = (Set::EMPTY, set);
        while !rest.is_terminal() {
            let Node { down, right, .. } = self.nodes.get(rest);
            let below = self.project(down, group, level + 1)?;
            all = self.union(all, below)?;
            rest = right;
        }
        Ok(all)
    }
}
