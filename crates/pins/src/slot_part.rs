//! What slots are slots of. Slots are numbered anew when new processes are met; what a slot is a slot of stays,
//! and with it what its values mean.

use machine::facts::slots::Slots;
use system::matrix::SlotId;

/// What a slot is a slot of: it is the same slot where that is the same, whatever its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotPart {
    /// Global cells, from one to before another.
    Globals(u32, u32),
    /// A global channel.
    Channel(u32),
    /// The location of a member.
    Location(u32),
    /// Cells of a member.
    Cells(u32, u32, u32),
    /// A channel of a member.
    OwnChannel(u32, u32),
    /// One of the rest, of which there is one each.
    Rest(u32),
}

/// For each slot what it is a slot of.
pub fn slot_parts(slots: &Slots) -> Vec<SlotPart> {
    let rest = [slots.processes, slots.priorities, slots.last, slots.trace];
    let mut parts = vec![SlotPart::Rest(u32::MAX); slots.list.len()];
    rest.into_iter().zip(0..).for_each(|(slot, number)| {
        slot.into_iter().for_each(|slot| parts[slot.index()] = SlotPart::Rest(number));
    });
    ranges(&slots.globals, |slot, first, end| parts[slot] = SlotPart::Globals(first, end));
    for (slot, number) in slots.channels.iter().zip(0..) {
        slot.iter().for_each(|slot| parts[slot.index()] = SlotPart::Channel(number));
    }
    for (own, member) in slots.members.iter().zip(0..) {
        parts[own.location.index()] = SlotPart::Location(member);
        ranges(&own.cells, |slot, first, end| parts[slot] = SlotPart::Cells(member, first, end));
        for (slot, number) in own.channels.iter().zip(0..) {
            slot.iter().for_each(|slot| parts[slot.index()] = SlotPart::OwnChannel(member, number));
        }
    }
    parts
}

/// The cells of each slot: from the first to before the last. They follow each other.
fn ranges(cells: &[SlotId], mut told: impl FnMut(usize, u32, u32)) {
    let mut at = 0;
    for same in cells.chunk_by(|a, b| a == b) {
        told(same[0].index(), at, at + same.len() as u32);
        at += same.len() as u32;
    }
}
