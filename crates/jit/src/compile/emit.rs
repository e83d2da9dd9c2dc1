//! How an outcome is written: helpers make room, copy the state and complete the record; code in between executes.
//!
//! The helpers are calls rather than code in every edge: that costs a nanosecond or two and makes the code of an edge so
//! much shorter that compiling takes half the time.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::Module;
use machine::interp::layout::Width;
use promela::ir::{Edge, EdgeId, LocId, ProctypeId};

use crate::runtime;

use super::always_enabled;
use super::expr::Frame;
use super::process::Gen;
use super::statement::{How, Targets};

impl Gen<'_> {
    /// An edge is executable: what follows executes it on the frame that is returned. `None` when that is not wanted.
    pub fn commit(&mut self, f: &Frame, id: EdgeId, how: How, to: &Targets) -> Option<Frame> {
        match how {
            How::Ask | How::Test => {
                self.b.ins().jump(to.done, &[]);
                None
            }
            How::InPlace => Some(*f),
            How::Emit => {
                self.answer();
                let action = self.action(id);
                let args = [self.context, f.state, f.shape, action];
                let state = self.helper(runtime::begin as *const u8, &args, Some(types::I64));
                let state = state.unwrap_or(f.state);
                // Nothing is to be written when only the action is wanted.
                self.unless(state, to.done);
                self.wrong = to.fault;
                self.slow = to.fault;
                let local = self.b.ins().iadd(state, self.own);
                Some(Frame { state, local, ..*f })
            }
        }
    }

    /// The step is complete: moves the process, gives control, completes the record; ends the block.
    pub fn finish(&mut self, f: &Frame, id: EdgeId, edge: &Edge, how: How, to: &Targets) {
        if how == How::Emit {
            let target = self.int(edge.to.0 as i32);
            self.write(self.plan.layout.location, target, f.local, 0);
            for (first, len) in self.dead_bytes(edge.to) {
                self.clear(f.local, first as i32, len);
            }
            if let Some(at) = self.plan.layout.last {
                self.write(Width::U8, self.pid, f.state, at as i32);
            }
            let control = if edge.atomic { self.control(f, edge.to) } else { self.int(0) };
            let flag = self.flag(id);
            self.helper(runtime::finish as *const u8, &[self.context, f.state, control, flag], None);
        }
        self.b.ins().jump(to.done, &[]);
    }

    /// The flag that says that an edge was taken. It stays where it is.
    pub fn flag(&mut self, id: EdgeId) -> Value {
        let flags = self.plan.interp.taken_flags(ProctypeId(self.proctype as u32));
        self.b.ins().iconst(types::I64, &raw const flags[id.index()] as i64)
    }

    /// Notes that a statement inside a d_step was executed.
    pub fn note(&mut self, id: EdgeId) {
        let flag = self.flag(id);
        let known = self.read(Width::U8, flag, 0);
        let (new, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(known, go_on, &[], new, &[]);
        self.b.set_cold_block(new);
        self.b.switch_to_block(new);
        let one = self.int(1);
        self.write(Width::U8, one, flag, 0);
        self.b.ins().jump(go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// The bytes of a block whose values do not matter at a location: offsets and lengths.
    pub fn dead_bytes(&self, location: LocId) -> Vec<(u32, u32)> {
        let block = &self.plan.layout.processes[self.proctype];
        let mut dead = self.definition().location(location).dead.clone();
        dead.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cell in dead {
            let (first, len) = (block.cells[cell as usize], block.scalars[cell as usize].width() as u32);
            match ranges.last_mut() {
                Some(range) if range.0 + range.1 == first => range.1 += len,
                _ => ranges.push((first, len)),
            }
        }
        ranges
    }

    /// 1 + the pid when the process can go on from `location`, else 0.
    fn control(&mut self, f: &Frame, location: LocId) -> Value {
        let control = self.b.ins().iadd_imm_s(self.pid, 1);
        if always_enabled(self.definition(), location) {
            return control;
        }
        let Some(id) = self.plan.any[self.proctype][location.index()] else { return self.int(0) };
        let callee = self.module.declare_func_in_func(id, self.b.func);
        let at = self.int(location.0 as i32);
        let timeout = self.int(0);
        let call = self.b.ins().call(callee, &[self.context, f.state, f.shape, self.pid, at, timeout]);
        let can = self.b.inst_results(call)[0];
        self.b.ins().imul(control, can)
    }
}
