//! How states are looked up and put into a table of buckets of 32 bytes, as PTX. Empty is 0, nothing is ever
//! deleted, and one compare-and-swap publishes an entry.
//!
//! *Quotient* (Cleary, "Compact hash tables using bidirectional linear probing", 1984): a state of few bits is
//! mixed by a bijection; the upper bits say which bucket, an entry holds the others and the number of the
//! probe, so that nothing is lost. The queue has the states in the order in which they were found.
//!
//! *Arena*: an entry is a tag and the place of the state in the arena, which is the queue. A state is written
//! before its entry is published; who loses a race against an equal state marks its place as a hole.

use kernel::Layout;

use crate::text::Text;

/// Probes of a table of quotients.
const QUOTIENT_PROBES: u32 = 32;
/// Probes of a table of places.
const ARENA_PROBES: u32 = 96;

/// A table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// States of one or two words, in entries of 64 bits.
    Quotient,
    /// States of any width.
    Arena,
}

impl Table {
    /// How it is called.
    pub fn words(self) -> &'static str {
        match self {
            Table::Quotient => "quotients",
            Table::Arena => "whole states",
        }
    }
}

/// Bits of a state as a table of quotients sees them, in both words: at least as many as it has buckets.
pub fn quotient_bits(layout: &Layout) -> Option<(u32, u32)> {
    match layout.words[..] {
        [low] => Some((low.max(40), 0)),
        [low, high] => Some((low.max(40), high)),
        _ => None,
    }
}

/// The least and the greatest binary logarithm of its number of buckets that a table of quotients can have.
pub fn quotient_buckets(layout: &Layout) -> Option<(u32, u32)> {
    let (low, high) = quotient_bits(layout)?;
    // An entry has room for 58 bits and the number of the probe.
    let (least, most) = ((low + high).saturating_sub(58).max(1), low - 1);
    let most = most.min(33);
    (least <= most).then_some((least, most))
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Text {
    /// Declares what the code below needs.
    pub fn declare_table(&mut self) {
        self.lines(
            ".reg .b64 %x, %y, %t, %h, %q, %rem, %bucket, %entry, %old, %at, %place, %tag, %e<4>;
            .reg .b32 %j;
            .reg .pred %same, %none, %full, %deep;",
        );
    }

    /// `%to` is mixed: a bijection of 64 bits.
    fn mix(&mut self, to: &str) {
        for _ in 0..2 {
            self.line(format_args!("shr.u64 %t, {to}, 32;\nxor.b64 {to}, {to}, %t;"));
            self.line(format_args!("mul.lo.s64 {to}, {to}, {};", 0xd6e8_feb8_6659_fd93u64 as i64));
        }
        self.line(format_args!("shr.u64 %t, {to}, 32;\nxor.b64 {to}, {to}, %t;"));
    }

    /// Reads a bucket past the nearest cache.
    fn read_bucket(&mut self) {
        self.lines(
            "shl.b64 %at, %bucket, 5;
            add.s64 %at, %at, %table;
            ld.global.cg.v2.u64 {%e0, %e1}, [%at];
            ld.global.cg.v2.u64 {%e2, %e3}, [%at+16];",
        );
    }

    /// Inserts the state in the registers `words` into a table of quotients: `%r` becomes 1 where it is new,
    /// 2 where there is no room, else 0.
    pub fn insert_quotient(&mut self, layout: &Layout, words: &[String]) {
        let Some((low, high)) = quotient_bits(layout) else { return };
        self.line(format_args!("mov.u64 %x, {};", words[0]));
        match high {
            0 => self.mix_one(low),
            _ => {
                self.line(format_args!("mov.u64 %y, {};", words[1]));
                self.mix_two(low, high);
            }
        }
        // The quotient says which bucket; `%bits` is the logarithm of their number.
        self.line(format_args!("sub.s32 %j, {low}, %bits;\nshr.u64 %q, %x, %j;"));
        self.lines("mov.u64 %t, 1;\nshl.b64 %t, %t, %j;\nsub.s64 %t, %t, 1;\nand.b64 %rem, %x, %t;");
        if high > 0 {
            self.line(format_args!("shl.b64 %rem, %rem, {high};\nor.b64 %rem, %rem, %y;"));
        }
        let (probe, next, out) = (self.label(), self.label(), self.label());
        self.line(format_args!("mov.u64 %bucket, %q;\nmov.u32 %j, 0;\n{probe}:"));
        self.lines("cvt.u64.u32 %t, %j;\nshl.b64 %entry, %rem, 5;\nor.b64 %entry, %entry, %t;");
        self.lines("add.s64 %entry, %entry, 1;");
        self.read_bucket();
        for i in 0..4 {
            let on = self.label();
            self.line(format_args!("mov.u32 %r, 0;\nsetp.eq.s64 %same, %e{i}, %entry;\n@%same bra {out};"));
            self.line(format_args!("setp.ne.s64 %none, %e{i}, 0;\n@%none bra {on};"));
            self.line(format_args!("add.s64 %t, %at, {};", 8 * i));
            self.lines("mov.u64 %h, 0;\natom.global.cas.b64 %old, [%t], %h, %entry;");
            self.line(format_args!("setp.eq.s64 %same, %old, %entry;\n@%same bra {out};"));
            self.line(format_args!("mov.u32 %r, 1;\nsetp.eq.s64 %none, %old, 0;\n@%none bra {out};\n{on}:"));
        }
        self.line(format_args!("{next}:\nadd.s32 %j, %j, 1;\nmov.u32 %r, 2;"));
        self.line(format_args!("setp.ge.u32 %full, %j, {QUOTIENT_PROBES};\n@%full bra {out};"));
        // Another bucket, from which the quotient can be computed.
        self.lines("cvt.u64.u32 %h, %j;\nshl.b64 %bucket, %rem, 5;\nadd.s64 %bucket, %bucket, %h;");
        self.line(format_args!("mul.lo.s64 %bucket, %bucket, {};", 0x9e37_79b9_7f4a_7c15u64 as i64));
        self.lines("shr.u64 %t, %bucket, 29;\nxor.b64 %bucket, %bucket, %t;");
        self.line(format_args!("mul.lo.s64 %bucket, %bucket, {};", 0xbf58_476d_1ce4_e5b9u64 as i64));
        self.lines("mov.u32 %r, 64;\nsub.s32 %r, %r, %bits;\nshr.u64 %bucket, %bucket, %r;");
        self.line(format_args!("xor.b64 %bucket, %bucket, %q;\nbra {probe};\n{out}:"));
    }

    /// Mixes `%x` of some bits by a bijection.
    fn mix_one(&mut self, bits: u32) {
        for factor in [0xd6e8_feb8_6659_fd93u64, 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93] {
            self.line(format_args!("mul.lo.s64 %x, %x, {};", factor as i64));
            self.line(format_args!("and.b64 %x, %x, {};", mask(bits) as i64));
            self.line(format_args!("shr.u64 %t, %x, {};\nxor.b64 %x, %x, %t;", bits / 2));
        }
    }

    /// Mixes `%x` and `%y` of some bits by a bijection of both: four rounds of Feistel's.
    fn mix_two(&mut self, low: u32, high: u32) {
        for (round, salt) in [0i64, 0x1111, 0x2222, 0x3333].into_iter().enumerate() {
            let (from, to, bits) = if round % 2 == 0 { ("%x", "%y", high) } else { ("%y", "%x", low) };
            self.line(format_args!("add.s64 %h, {from}, {salt};"));
            self.mix("%h");
            self.line(format_args!("and.b64 %h, %h, {};\nxor.b64 {to}, {to}, %h;", mask(bits) as i64));
        }
    }

    /// The hash of a state in `%h`, and its tag.
    fn hash(&mut self, words: &[String]) {
        self.lines("mov.u64 %h, 19088743;");
        for word in words {
            self.line(format_args!("xor.b64 %h, %h, {word};"));
            self.line(format_args!("mul.lo.s64 %h, %h, {};", 0x9e37_79b9_7f4a_7c15u64 as i64));
            self.lines("shr.u64 %t, %h, 32;\nxor.b64 %h, %h, %t;");
        }
        self.mix("%h");
        self.lines("shl.b64 %tag, %h, 40;\nmul.hi.u64 %bucket, %h, %buckets;\nmov.u32 %j, 0;");
    }

    /// On to another bucket, unless there were enough.
    fn next_bucket(&mut self, probe: &str, out: &str) {
        self.line(format_args!("add.s32 %j, %j, 1;\nmov.u32 %r, 2;"));
        self.line(format_args!("setp.ge.u32 %full, %j, {ARENA_PROBES};\n@%full bra {out};"));
        self.line(format_args!("mul.lo.s64 %h, %h, {};", 0x9e37_79b9_7f4a_7c15u64 as i64));
        self.line(format_args!("add.s64 %h, %h, 19088743;\nmov.u64 %q, %h;"));
        self.mix("%q");
        self.line(format_args!("mul.hi.u64 %bucket, %q, %buckets;\nbra {probe};"));
    }

    /// Compares the state at the place that `%e{i}` names with `words`; goes to `out` with `%r` 0 where it is
    /// the same.
    fn compare(&mut self, i: usize, words: &[String], out: &str) {
        let other = self.label();
        self.line(format_args!("xor.b64 %t, %e{i}, %tag;\nshr.u64 %t, %t, 40;"));
        self.line(format_args!("setp.ne.s64 %none, %t, 0;\n@%none bra {other};"));
        self.line(format_args!("and.b64 %t, %e{i}, {};\nsub.s64 %t, %t, 1;", mask(40)));
        self.line(format_args!("mul.lo.s64 %t, %t, {};\nadd.s64 %t, %t, %queue;", 8 * words.len()));
        for (word, name) in words.iter().enumerate() {
            self.line(format_args!("ld.global.cg.u64 %x, [%t+{}];", 8 * word));
            self.line(format_args!("setp.ne.s64 %none, %x, {name};\n@%none bra {other};"));
        }
        self.line(format_args!("mov.u32 %r, 0;\nbra {out};\n{other}:"));
    }

    /// Looks a state up in a table of places: `%r` becomes 0 where it is there, 1 where it is not, 2 where
    /// there is no room. Where it is not, it can be inserted.
    pub fn find_in_arena(&mut self, words: &[String]) {
        self.hash(words);
        let (probe, out) = (self.label(), self.label());
        self.line(format_args!("{probe}:"));
        self.read_bucket();
        for i in 0..4 {
            self.line(format_args!("mov.u32 %r, 1;\nsetp.eq.s64 %none, %e{i}, 0;\n@%none bra {out};"));
            self.compare(i, words, &out);
        }
        self.next_bucket(&probe, &out);
        self.line(format_args!("{out}:"));
    }

    /// Goes on where a look-up ended, and inserts the state that is at `%place`; `%r` as for quotients.
    pub fn insert_in_arena(&mut self, words: &[String]) {
        let (probe, out) = (self.label(), self.label());
        self.line(format_args!("{probe}:"));
        self.read_bucket();
        for i in 0..4 {
            let (taken, on) = (self.label(), self.label());
            self.line(format_args!("setp.ne.s64 %none, %e{i}, 0;\n@%none bra {taken};"));
            self.lines("add.s64 %entry, %place, 1;\nor.b64 %entry, %entry, %tag;");
            self.line(format_args!("add.s64 %t, %at, {};\nmov.u64 %x, 0;", 8 * i));
            self.lines("atom.global.cas.b64 %old, [%t], %x, %entry;");
            self.line(format_args!("mov.u32 %r, 1;\nsetp.eq.s64 %none, %old, 0;\n@%none bra {out};"));
            self.line(format_args!("mov.u64 %e{i}, %old;\n{taken}:"));
            self.compare(i, words, &out);
            self.line(format_args!("{on}:"));
        }
        self.next_bucket(&probe, &out);
        self.line(format_args!("{out}:"));
    }
}
