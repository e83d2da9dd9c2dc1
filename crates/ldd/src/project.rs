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

    /// Whether all values at the levels that a group reads, of a set whose first level is `level`, are among
    /// those that are `known`. Cheaper than the projection: where that is so, nothing is built.
    pub fn projects_into(&mut self, set: Set, known: Set, group: &Group, level: usize) -> Result<bool, Full> {
        if set.is_empty() {
            return Ok(true);
        }
        if group.last_read().is_none_or(|last| level > last) {
            return Ok(!known.is_empty());
        }
        if known.is_empty() && group.last_restricted().is_none_or(|last| level > last) {
            return Ok(false);
        }
        let key = Key::at(Operation::ProjectsInto, group.number, level, [set, known, Set::EMPTY]);
        if let Some(answer) = self.cache.get(key) {
            return Ok(answer == Set::UNIT);
        }
        let (reads, only) = (group.access(level).reads(), group.values(level));
        let (mut rest, mut inside) = (set, true);
        while inside && !rest.is_terminal() {
            let Node { value, down, right } = self.nodes.get(rest);
            if only.is_none_or(|only| only.binary_search(&value).is_ok()) {
                let known = if reads { self.tail_of(known, value) } else { known };
                inside = self.projects_into(down, known, group, level + 1)?;
            }
            rest = right;
        }
        self.remember(key, if inside { Set::UNIT } else { Set::EMPTY });
        Ok(inside)
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
