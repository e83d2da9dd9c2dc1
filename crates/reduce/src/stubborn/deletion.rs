//! The deletion algorithm: from the set of everything, one process after another is taken out.
//!
//! From A. Valmari (*State space generation: efficiency and practicality*, 1988). Everything together is a
//! stubborn set. Deleting the enabled actions of a process makes others impossible to keep, namely those that
//! ask for what was deleted, and so on; if something enabled is left, what is left is a smaller stubborn set,
//! else the deletion is taken back. In the end nothing more can be deleted this way. Where something could be
//! enabled in several ways (parts of a guard), one of them is enough, and none has to be chosen beforehand as
//! a closure must; the price is that the whole set is looked at again and again.

use super::{Chooser, Enabled, Why};

impl Chooser<'_> {
    /// Builds the set; the number of its enabled actions, if something could be left out of `total`.
    pub(super) fn delete(&mut self, total: u32) -> Option<u32> {
        for here in &mut self.here {
            here.inside = here.full;
        }
        let mut saved = Vec::new();
        for pid in 0..self.here.len() {
            let enabled = self.here[pid].enabled;
            if self.here[pid].inside & enabled == 0 {
                continue;
            }
            saved.clear();
            saved.extend(self.here.iter().map(|here| here.inside));
            self.here[pid].inside &= !enabled;
            self.shrink();
            if self.here.iter().all(|here| here.inside & here.enabled == 0) {
                self.here.iter_mut().zip(&saved).for_each(|(here, &inside)| here.inside = inside);
            }
        }
        let kept =
            |action: &Enabled| action.items().any(|(pid, place)| self.here[pid].inside >> place & 1 != 0);
        let cost = self.actions.iter().filter(|action| kept(action)).count() as u32;
        (cost < total).then_some(cost)
    }

    /// Takes out what asks for something that is not inside, until nothing does.
    fn shrink(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for pid in 0..self.here.len() {
                let mut left = self.here[pid].inside;
                while left != 0 {
                    let place = left.trailing_zeros();
                    left &= left - 1;
                    if !self.stays(pid, place) {
                        self.here[pid].inside &= !(1 << place);
                        changed = true;
                    }
                }
            }
        }
    }

    /// Whether all is inside that an item asks for.
    fn stays(&mut self, pid: usize, place: u32) -> bool {
        let mark = self.mark(pid, place);
        if mark.everything {
            return false;
        }
        let rendezvous = !mark.partners.is_empty();
        if self.here[pid].enabled >> place & 1 != 0 {
            return !self.is_alone(pid, place)
                && self.is_full(pid)
                && self.has(pid, place, Why::Conflicts, rendezvous)
                && (!rendezvous || self.has_counterparts(pid, place));
        }
        let last = self.here.len() - 1;
        if mark.ends && last != pid {
            return self.drawn(pid, place, Why::Enables, last) & !self.here[last].inside == 0;
        }
        let mut known = false;
        for part in 0..self.n_parts(pid, place) {
            let Some(why) = self.false_part(pid, place, part) else { continue };
            if self.can_wait_for(pid, place, why, rendezvous) {
                return true;
            }
            known = true;
        }
        let why = self.why_disabled(pid, place);
        !known && self.can_wait_for(pid, place, why, rendezvous)
    }

    /// Whether all is inside that may enable an item in one way.
    fn can_wait_for(&mut self, pid: usize, place: u32, why: Why, rendezvous: bool) -> bool {
        self.own_help(pid, place, why) & !self.here[pid].inside == 0 && self.has(pid, place, why, rendezvous)
    }

    fn is_full(&self, pid: usize) -> bool {
        self.here[pid].inside == self.here[pid].full
    }

    /// Whether all edges of other processes are inside that an item draws in.
    fn has(&mut self, pid: usize, place: u32, why: Why, rendezvous: bool) -> bool {
        (0..self.here.len()).filter(|&other| other != pid).all(|other| {
            let mut mask = self.drawn(pid, place, why, other);
            if rendezvous {
                mask |= self.drawn(pid, place, Why::Partner, other);
            }
            mask & !self.here[other].inside == 0
        })
    }

    /// Whether those are inside with all their edges with whom an item takes part in a rendezvous.
    fn has_counterparts(&self, pid: usize, place: u32) -> bool {
        let takes_part = |action: &&Enabled| action.items().any(|item| item == (pid, place));
        let mut actions = self.actions.iter().filter(takes_part);
        actions.all(|action| action.items().all(|(pid, _)| self.is_full(pid)))
    }
}
