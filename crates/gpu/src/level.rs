//! The kernel `level`, as PTX: each thread takes states of the queue, tries the alternatives of their
//! processes one after another, looks up what they lead to and appends what is new to the queue.
//!
//! The loop over processes and alternatives is one for all threads of a warp, so that look-ups are made
//! together and the code of the model stands there once. Who comes into an atomic sequence follows it by
//! himself as long as it is straight; where it branches, the transient state goes into table and queue, marked
//! by who has control and not counted.

use kernel::lower::{EXECUTED, FAILED, LONG, NO_STATE};
use kernel::{Kernel, Layout};

use crate::table::Table;
use crate::text::{Text, name};

/// Threads of a block.
pub const BLOCK: u32 = 256;
/// Steps of an atomic sequence that are followed before a transient state is kept all the same.
const STRAIGHT: u32 = 64;
/// Records of states that show something at most.
pub const RECORDS: u64 = 1 << 16;

/// What the kernel counts, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Counter {
    /// States that were appended to the queue in this level.
    Appended,
    /// Ordinary states that are new.
    States,
    /// Steps to ordinary states.
    Steps,
    /// Deadlocks.
    Deadlocks,
    /// Steps that show an error.
    Errors,
    /// States for which there was no room.
    Full,
    /// Values that were not foreseen.
    Misses,
    /// The last of them.
    Miss,
    /// The place in the queue of the state that it happened in.
    MissAt,
    /// d_steps that were given up.
    Long,
    /// States that show something: their places are in the records, with what they show in the upper four
    /// bits (1 a deadlock, 2 an error that ends a step, 4 a failed assertion).
    Records,
}

/// How many counters there are.
pub const COUNTERS: usize = 11;

/// The counters that each thread keeps for itself, with their registers.
const OWN: [(Counter, &str); 7] = [
    (Counter::States, "%n_states"),
    (Counter::Steps, "%n_steps"),
    (Counter::Deadlocks, "%n_dead"),
    (Counter::Errors, "%n_errors"),
    (Counter::Full, "%n_full"),
    (Counter::Misses, "%n_misses"),
    (Counter::Long, "%n_long"),
];

/// The parameters, all of 64 bits, in order.
pub const PARAMETERS: [&str; 14] = [
    "queue", "capacity", "parents", "from", "to", "n", "number", "table", "buckets", "bits", "counters",
    "records", "room", "seed",
];

/// Makes the text.
struct Maker<'a> {
    t: Text,
    layout: &'a Layout,
    kernel: &'a Kernel,
    table: Table,
    /// The state that is expanded, where a run is, the one step that it has found.
    source: Vec<String>,
    base: Vec<String>,
    first: Vec<String>,
    /// The state that the function changes.
    state: Vec<String>,
}

/// The text of the kernel for a model.
pub fn text(layout: &Layout, kernel: &Kernel, table: Table) -> String {
    let names = |letter: &str| (0..layout.words.len()).map(|i| format!("%{letter}{i}")).collect();
    let state = kernel.state.iter().map(|&reg| name(&kernel.function, reg)).collect();
    let (source, base, first) = (names("src"), names("base"), names("first"));
    let mut maker = Maker { t: Text::default(), layout, kernel, table, source, base, first, state };
    maker.kernel_text();
    maker.t.text
}

impl Maker<'_> {
    fn words(&self) -> usize {
        self.layout.words.len()
    }

    fn copy(&mut self, from: &[String], to: &[String]) {
        for (from, to) in from.iter().zip(to) {
            self.t.line(format_args!("mov.u64 {to}, {from};"));
        }
    }

    fn kernel_text(&mut self) {
        let wide = self.words() > 3 || self.kernel.uses_control;
        let blocks = if wide { 2 } else { 4 };
        self.t.lines(".version 6.0\n.target sm_70\n.address_size 64");
        let parameters = PARAMETERS.map(|name| format!(".param .u64 p_{name}")).join(", ");
        self.t.line(format_args!(".visible .entry level({parameters})"));
        self.t.line(format_args!(".maxntid {BLOCK}, 1, 1\n.minnctapersm {blocks}\n{{"));
        self.declare();
        for name in PARAMETERS {
            self.t.line(format_args!("ld.param.u64 %p_{name}, [p_{name}];"));
        }
        self.t.lines(
            "mov.u64 %table, %p_table;
            mov.u64 %queue, %p_queue;
            mov.u64 %buckets, %p_buckets;
            cvt.u32.u64 %bits, %p_bits;
            mov.u32 %s32, %ctaid.x;
            mov.u32 %thread, %ntid.x;
            mov.u32 %lane, %tid.x;
            mul.lo.s32 %thread, %thread, %s32;
            add.s32 %thread, %thread, %lane;
            and.b32 %lane, %lane, 31;
            mov.u32 %below, 1;
            shl.b32 %below, %below, %lane;
            sub.s32 %below, %below, 1;
            cvt.u64.u32 %i, %thread;
            mov.u32 %thread, %nctaid.x;
            mov.u32 %s32, %ntid.x;
            mul.lo.s32 %thread, %thread, %s32;
            cvt.u64.u32 %stride, %thread;
            cvt.u64.u32 %first_of_warp, %lane;
            sub.s64 %first_of_warp, %i, %first_of_warp;",
        );
        for (_, register) in OWN {
            self.t.line(format_args!("mov.u32 {register}, 0;"));
        }
        self.t.lines(
            "STATE:
            setp.ge.u64 %done, %first_of_warp, %p_n;
            @%done bra END;",
        );
        self.load();
        self.expand();
        self.t.lines(
            "add.s64 %i, %i, %stride;
            add.s64 %first_of_warp, %first_of_warp, %stride;
            bra STATE;
            END:",
        );
        self.tell();
        self.t.lines("ret;\n}");
    }

    fn declare(&mut self) {
        let n = self.words();
        self.t.declare(&self.kernel.function);
        self.t.declare_table();
        self.t.line(format_args!(".reg .b64 %src<{n}>;\n.reg .b64 %base<{n}>;\n.reg .b64 %first<{n}>;"));
        let parameters = PARAMETERS.map(|name| format!("%p_{name}")).join(", ");
        let own = OWN.map(|(_, register)| register).join(", ");
        self.t.line(format_args!(".reg .b64 {parameters};\n.reg .b32 {own};"));
        self.t.lines(
            ".reg .b64 %table, %queue, %buckets, %i, %stride, %first_of_warp, %record, %pos, %in;
            .reg .b32 %bits, %thread, %lane, %below, %have, %owner, %some, %turn, %slot, %timeout, %active;
            .reg .b32 %k, %visit, %more, %ok, %flags, %mode, %count, %taken, %steps, %who, %r;
            .reg .b32 %mask, %told, %shows, %calm;
            .reg .pred %done, %p, %q1;",
        );
    }

    /// The state of this thread, if there is one.
    fn load(&mut self) {
        let (n, source) = (self.words(), self.source.clone());
        self.t.lines("setp.lt.u64 %p, %i, %p_n;\nselp.b32 %have, 1, 0, %p;\n@!%p bra LOADED;");
        self.t.lines("add.s64 %in, %p_from, %i;\nsetp.ge.u64 %q1, %in, %p_capacity;");
        self.t.lines("selp.b64 %t, %p_capacity, 0, %q1;\nsub.s64 %in, %in, %t;");
        self.t.line(format_args!("mul.lo.s64 %at, %in, {};\nadd.s64 %at, %at, %queue;", 8 * n));
        for (word, register) in source.iter().enumerate() {
            self.t.line(format_args!("ld.global.cg.u64 {register}, [%at+{}];", 8 * word));
        }
        if self.table == Table::Arena {
            // A hole.
            self.t.line(format_args!("setp.ne.s64 %p, {}, -1;\nselp.b32 %have, 1, 0, %p;", source[0]));
        }
        self.t.lines("LOADED:\nmov.u32 %owner, 0;\nmov.u32 %some, 0;\nmov.u32 %shows, 0;\nmov.u32 %calm, 0;");
        if self.kernel.uses_control {
            self.control(&source, "%owner");
        }
    }

    /// Who has control in a state, plus 1.
    fn control(&mut self, state: &[String], to: &str) {
        let column = &self.layout.columns[self.layout.control];
        let (word, shift) = column.at(0);
        self.t.line(format_args!("shr.u64 %t, {}, {shift};\ncvt.u32.u64 {to}, %t;", state[word]));
        self.t.line(format_args!("and.b32 {to}, {to}, {};", column.mask()));
    }

    /// All alternatives of all processes, and what follows from there being none.
    fn expand(&mut self) {
        let slots = self.layout.slots.len() as u32;
        let turns = if self.kernel.uses_timeout { 2 * slots } else { slots };
        // The initial state is a step of nobody.
        self.t.lines("mov.u32 %turn, 0;\nsetp.eq.s64 %p, %p_seed, 0;\n@%p bra TURN;");
        let (source, state) = (self.source.clone(), self.state.clone());
        self.copy(&source, &state);
        self.t.line(format_args!("mov.u32 %turn, {};\nmov.u32 %ok, %have;", turns + 1));
        self.t.lines("mov.u32 %some, 1;\nmov.u32 %told, 0;\nmov.u32 %more, 0;\nbra FIRED;\nTURN:");
        self.t.line(format_args!("setp.ge.u32 %p, %turn, {turns};\n@%p bra LAST_TURN;"));
        self.t.line(format_args!("setp.ge.u32 %q1, %turn, {slots};\nselp.b32 %timeout, 1, 0, %q1;"));
        self.t.line(format_args!("mul.lo.s32 %slot, %timeout, {slots};\nsub.s32 %slot, %turn, %slot;"));
        self.t.lines("mov.u32 %active, %have;");
        if self.kernel.uses_control {
            self.t.lines(
                "add.s32 %s32, %slot, 1;
                setp.eq.s32 %p, %s32, %owner;
                setp.eq.s32 %q1, %owner, 0;
                or.pred %p, %p, %q1;
                selp.b32 %active, %active, 0, %p;",
            );
        }
        if self.kernel.uses_timeout {
            // Whether somebody could move without it is known when its turns begin.
            self.t.line(format_args!("setp.eq.s32 %p, %turn, {slots};\nselp.b32 %calm, %some, %calm, %p;"));
            self.t.lines(
                "or.b32 %s32, %calm, %owner;
                setp.ne.s32 %p, %s32, 0;
                setp.ne.s32 %q1, %timeout, 0;
                and.pred %p, %p, %q1;
                selp.b32 %active, 0, %active, %p;",
            );
        }
        self.t.lines(
            "mov.u32 %k, 0;
            mov.u32 %visit, 0;
            mov.u32 %more, %active;
            ALTERNATIVE:
            setp.ne.s32 %p, %more, 0;
            vote.sync.any.pred %p, %p, -1;
            @!%p bra NEXT_TURN;
            mov.u32 %ok, 0;
            mov.u32 %told, 1;
            setp.eq.s32 %p, %more, 0;
            @%p bra FIRED;",
        );
        self.fire();
        self.t.lines("FIRED:");
        self.insert();
        self.t.lines(
            "add.s32 %k, %k, 1;
            bra ALTERNATIVE;
            NEXT_TURN:
            add.s32 %turn, %turn, 1;
            bra TURN;
            LAST_TURN:",
        );
        if self.kernel.uses_control {
            self.give_control_back(turns);
        }
        self.stuck();
    }

    /// Where who has control cannot move, everybody can: one more turn, in which that is the step.
    fn give_control_back(&mut self, turns: u32) {
        let state = self.state.clone();
        self.t.line(format_args!("setp.ne.s32 %p, %turn, {turns};\n@%p bra STUCK;"));
        self.t.lines(
            "setp.ne.s32 %p, %owner, 0;
            selp.b32 %ok, %have, 0, %p;
            setp.ne.s32 %p, %some, 0;
            selp.b32 %ok, 0, %ok, %p;
            setp.ne.s32 %p, %ok, 0;
            vote.sync.any.pred %p, %p, -1;
            @!%p bra STUCK;
            mov.u32 %told, 0;
            mov.u32 %flags, 0;
            mov.u32 %more, 0;",
        );
        let source = self.source.clone();
        self.copy(&source, &state);
        self.clear_control();
        self.t.lines("bra FIRED;\nSTUCK:");
    }

    fn clear_control(&mut self) {
        let column = &self.layout.columns[self.layout.control];
        let (word, shift) = column.at(0);
        let keep = !(u64::from(column.mask()) << shift) as i64;
        let register = self.state[word].clone();
        self.t.line(format_args!("and.b64 {register}, {register}, {keep};"));
    }

    /// A deadlock: nobody could move, and not all are where a run may end.
    fn stuck(&mut self) {
        self.t.lines(
            "or.b32 %s32, %some, %owner;
            setp.ne.s32 %p, %s32, 0;
            @%p bra TOLD;
            setp.eq.s32 %p, %have, 0;
            @%p bra TOLD;",
        );
        for (pid, slot) in self.layout.slots.iter().enumerate() {
            let column = &self.layout.columns[slot.location];
            if column.bits == 0 {
                continue;
            }
            let (word, shift) = column.at(0);
            self.t.line(format_args!("shr.u64 %t, {}, {shift};\ncvt.u32.u64 %s32, %t;", self.source[word]));
            self.t.line(format_args!("and.b32 %s32, %s32, {};\nsetp.eq.s32 %p, %s32, 0;", column.mask()));
            for &code in &self.kernel.ends[pid] {
                self.t.line(format_args!("setp.eq.s32 %q1, %s32, {code};\nor.pred %p, %p, %q1;"));
            }
            self.t.lines("@!%p bra DEAD;");
        }
        self.t.lines("bra TOLD;\nDEAD:\nadd.s32 %n_dead, %n_dead, 1;\nor.b32 %shows, %shows, 1;\nTOLD:");
        self.t.line(format_args!("setp.eq.s32 %p, %shows, 0;\n@%p bra RECORDED;"));
        let at = 8 * Counter::Records as usize;
        self.t.lines("mov.u64 %t, 1;");
        self.t.line(format_args!("atom.global.add.u64 %record, [%p_counters+{at}], %t;"));
        self.t.line(format_args!("setp.ge.u64 %p, %record, {RECORDS};\n@%p bra RECORDED;"));
        self.t.lines("shl.b64 %record, %record, 3;\nadd.s64 %record, %record, %p_records;");
        self.t.lines("add.s64 %t, %p_number, %i;\ncvt.u64.u32 %pos, %shows;\nshl.b64 %pos, %pos, 60;");
        self.t.lines("or.b64 %t, %t, %pos;\nst.global.u64 [%record], %t;\nRECORDED:");
    }

    /// Fires alternative `%k`: `%ok` says whether there is a state, `%more` whether there are alternatives.
    fn fire(&mut self) {
        let (source, base, first, state) =
            (self.source.clone(), self.base.clone(), self.first.clone(), self.state.clone());
        let kernel = self.kernel;
        let function = &kernel.function;
        let [slot, k, timeout, visit] =
            [kernel.slot, kernel.k, kernel.timeout, kernel.visit].map(|reg| name(function, reg));
        let [outcome, more, miss] = [kernel.outcome, kernel.more, kernel.miss].map(|reg| name(function, reg));
        let control = kernel.uses_control;
        self.copy(&source, if control { &base } else { &state });
        self.t.line(format_args!("mov.u32 {slot}, %slot;\nmov.u32 {k}, %k;\nmov.u32 {visit}, %visit;"));
        self.t
            .line(format_args!("mov.u32 {timeout}, %timeout;\nmov.u32 %mode, 0;\nmov.u32 %steps, 0;\nFIRE:"));
        if control {
            self.copy(&base, &state);
        }
        self.t.function(function);
        // Something was not foreseen.
        self.t.line(format_args!("setp.eq.s32 %p, {miss}, 0;\nand.b32 %s32, {outcome}, {EXECUTED};"));
        self.t.lines("setp.eq.s32 %q1, %s32, 0;\nor.pred %p, %p, %q1;\n@%p bra FORESEEN;");
        self.t
            .lines("add.s32 %n_misses, %n_misses, 1;\nmov.u32 %some, 1;\nmov.u32 %more, 0;\nmov.u32 %ok, 0;");
        let (what, at) = (8 * Counter::Miss as usize, 8 * Counter::MissAt as usize);
        self.t.line(format_args!("cvt.u64.u32 %t, {miss};\nst.global.u64 [%p_counters+{what}], %t;"));
        self.t.lines("add.s64 %t, %p_number, %i;");
        self.t.line(format_args!("st.global.u64 [%p_counters+{at}], %t;\nbra FIRED;\nFORESEEN:"));
        if control {
            self.t.lines("setp.ne.s32 %p, %mode, 0;\n@%p bra INSIDE;");
        }
        self.t.line(format_args!("mov.u32 %more, {more};\nmov.u32 %visit, {visit};\n@%q1 bra FIRED;"));
        self.t.line(format_args!("mov.u32 %some, 1;\nmov.u32 %flags, {outcome};"));
        self.leads_nowhere("%flags");
        self.t.lines("mov.u32 %ok, 1;");
        if control {
            self.inside(&base, &first, &state, [&slot, &k, &timeout, &visit, &outcome, &more]);
        } else {
            self.shows("%flags");
        }
    }

    /// A step that shows an error and leads nowhere.
    fn leads_nowhere(&mut self, flags: &str) {
        let (on, skip) = (self.t.label(), self.t.label());
        self.t.line(format_args!(
            "and.b32 %s32, {flags}, {NO_STATE};\nsetp.eq.s32 %p, %s32, 0;\n@%p bra {on};"
        ));
        self.t.lines("mov.u32 %ok, 0;");
        self.t
            .line(format_args!("and.b32 %s32, {flags}, {LONG};\nsetp.eq.s32 %p, %s32, 0;\n@%p bra {skip};"));
        self.t.line(format_args!("add.s32 %n_long, %n_long, 1;\n{skip}:"));
        self.t.line(format_args!(
            "add.s32 %n_errors, %n_errors, 1;\nor.b32 %shows, %shows, 2;\nbra FIRED;\n{on}:"
        ));
    }

    /// A failed assertion.
    fn shows(&mut self, flags: &str) {
        let on = self.t.label();
        self.t
            .line(format_args!("and.b32 %s32, {flags}, {FAILED};\nsetp.eq.s32 %p, %s32, 0;\n@%p bra {on};"));
        self.t.line(format_args!("add.s32 %n_errors, %n_errors, 1;\nor.b32 %shows, %shows, 4;\n{on}:"));
    }

    /// Follows an atomic sequence from the state in the function's registers as long as it is straight.
    fn inside(
        &mut self,
        base: &[String],
        first: &[String],
        state: &[String],
        [slot, k, timeout, visit, outcome, more]: [&str; 6],
    ) {
        self.shows("%flags");
        self.t.lines("ENTERED:");
        self.control(state, "%who");
        self.t.line(format_args!("setp.eq.s32 %p, %who, 0;\n@%p bra FIRED;"));
        self.t.line(format_args!("add.s32 %steps, %steps, 1;\nsetp.gt.u32 %p, %steps, {STRAIGHT};"));
        self.t.lines("@%p bra FIRED;");
        self.copy(state, base);
        self.t.line(format_args!("mov.u32 %mode, 1;\nmov.u32 %count, 0;\nsub.s32 {slot}, %who, 1;"));
        self.t.line(format_args!("mov.u32 {k}, 0;\nmov.u32 {visit}, 0;\nmov.u32 {timeout}, 0;\nbra FIRE;"));
        // One of the alternatives inside was tried.
        self.t.lines("INSIDE:\n@%q1 bra TRIED;\nadd.s32 %count, %count, 1;");
        self.t.lines("setp.gt.u32 %p, %count, 1;\n@%p bra BRANCHES;");
        self.copy(state, first);
        self.t.line(format_args!("mov.u32 %taken, {outcome};\nTRIED:"));
        self.t.line(format_args!("setp.eq.s32 %p, {more}, 0;\n@%p bra ALL_TRIED;"));
        self.t.line(format_args!("add.s32 {k}, {k}, 1;\nbra FIRE;\nBRANCHES:"));
        self.copy(base, state);
        self.t.lines("bra FIRED;\nALL_TRIED:\nsetp.ne.s32 %p, %count, 0;\n@%p bra STRAIGHT;");
        self.copy(base, state);
        self.clear_control();
        self.t.lines("bra FIRED;\nSTRAIGHT:");
        self.leads_nowhere("%taken");
        self.copy(first, state);
        self.shows("%taken");
        self.t.lines("bra ENTERED;");
    }

    /// Looks the state up, and appends it where it is new. All threads of the warp come here together.
    fn insert(&mut self) {
        let state = self.state.clone();
        self.t.lines(
            "mov.u32 %r, 3;\nsetp.eq.s32 %p, %ok, 0;\n@%p bra LOOKED_UP;\nadd.s32 %n_steps, %n_steps, %told;",
        );
        match self.table {
            Table::Quotient => self.t.insert_quotient(self.layout, &state),
            Table::Arena => self.t.find_in_arena(&state),
        }
        self.t.lines(
            "LOOKED_UP:
            setp.eq.s32 %p, %r, 1;
            vote.sync.ballot.b32 %mask, %p, -1;
            setp.eq.s32 %q1, %mask, 0;
            @%q1 bra APPENDED;
            bfind.u32 %who, %mask;
            popc.b32 %s32, %mask;
            mov.u64 %pos, 0;
            setp.ne.s32 %q1, %who, %lane;
            @%q1 bra FOLLOWERS;
            cvt.u64.u32 %t, %s32;",
        );
        let appended = 8 * Counter::Appended as usize;
        self.t.line(format_args!("atom.global.add.u64 %pos, [%p_counters+{appended}], %t;"));
        self.t.lines(
            "FOLLOWERS:
            cvt.u32.u64 %s32, %pos;
            shfl.sync.idx.b32 %s32, %s32, %who, 31, -1;
            @!%p bra APPENDED;
            and.b32 %mask, %mask, %below;
            popc.b32 %mask, %mask;
            add.s32 %s32, %s32, %mask;
            cvt.u64.u32 %pos, %s32;
            setp.ge.u64 %q1, %pos, %p_room;
            @%q1 bra NO_ROOM;
            add.s64 %place, %p_to, %pos;
            setp.ge.u64 %q1, %place, %p_capacity;
            selp.b64 %t, %p_capacity, 0, %q1;
            sub.s64 %place, %place, %t;",
        );
        self.t.line(format_args!(
            "mul.lo.s64 %record, %place, {};\nadd.s64 %record, %record, %queue;",
            8 * self.words()
        ));
        for (word, register) in state.iter().enumerate() {
            self.t.line(format_args!("st.global.u64 [%record+{}], {register};", 8 * word));
        }
        self.t.lines(
            "setp.eq.s64 %q1, %p_parents, 0;
            @%q1 bra NO_PARENT;
            shl.b64 %t, %place, 2;
            add.s64 %t, %t, %p_parents;
            add.s64 %pos, %p_number, %i;
            cvt.u32.u64 %s32, %pos;
            st.global.u32 [%t], %s32;
            NO_PARENT:",
        );
        if self.table == Table::Arena {
            self.t.lines("membar.gl;");
            self.t.insert_in_arena(&state);
            self.t.lines("setp.eq.s32 %p, %r, 1;\n@%p bra PUBLISHED;\nmov.u64 %t, -1;");
            self.t.lines("st.global.u64 [%record], %t;\nbra APPENDED;\nPUBLISHED:");
        }
        if self.kernel.uses_control {
            self.control(&state, "%who");
            self.t.lines("setp.ne.s32 %p, %who, 0;\n@%p bra APPENDED;");
        }
        self.t.lines("add.s32 %n_states, %n_states, 1;\nbra APPENDED;\nNO_ROOM:\nmov.u32 %r, 2;\nAPPENDED:");
        self.t.lines("setp.eq.s32 %p, %r, 2;\nselp.b32 %s32, 1, 0, %p;\nadd.s32 %n_full, %n_full, %s32;");
    }

    /// Adds what the threads counted.
    fn tell(&mut self) {
        for (counter, register) in OWN {
            for distance in [16, 8, 4, 2, 1] {
                self.t.line(format_args!("shfl.sync.bfly.b32 %s32, {register}, {distance}, 31, -1;"));
                self.t.line(format_args!("add.s32 {register}, {register}, %s32;"));
            }
            let on = self.t.label();
            self.t.line(format_args!("setp.ne.s32 %p, %lane, 0;\nsetp.eq.s32 %q1, {register}, 0;"));
            self.t.line(format_args!("or.pred %p, %p, %q1;\n@%p bra {on};\ncvt.u64.u32 %t, {register};"));
            let at = 8 * counter as usize;
            self.t.line(format_args!("red.global.add.u64 [%p_counters+{at}], %t;\n{on}:"));
        }
    }
}
