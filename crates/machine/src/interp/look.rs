//! A glance at a state of the reference machine: it is taken apart as for a step.

use super::{Interp, codec};
use crate::look::{Glance, Look, Seen, Wanted};

impl Look for Interp {
    fn look(&self, state: &[u8], wanted: &Wanted, out: &mut Glance) -> bool {
        out.clear();
        self.with_scratch(|scratch| {
            let state_of = &mut scratch.state;
            if codec::decode(&self.program, &self.layout, state, state_of).is_err() {
                return false;
            }
            out.globals.extend(wanted.globals.iter().map(|&(cell, _)| state_of.globals[cell as usize]));
            for process in &state_of.processes {
                let values = out.values.len() as u32;
                let cells = wanted.processes.get(process.proctype.index()).map_or(&[][..], Vec::as_slice);
                let value = |&cell: &u32| state_of.locals[process.first_cell + cell as usize];
                out.values.extend(cells.iter().map(value));
                out.processes.push(Seen {
                    proctype: process.proctype.0,
                    location: process.location.0,
                    first_channel: process.first_channel as u32,
                    values,
                });
            }
            out.lengths.extend(state_of.channels.iter().map(|channel| channel.len as u32));
            true
        })
    }
}
