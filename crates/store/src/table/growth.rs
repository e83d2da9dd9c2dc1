//! Growth: segments that are full get more lines, and those that soon will be with them; and when long keys
//! are packed from now on.

use super::Shared;
use crate::Full;
use crate::pages::WORDS;
use crate::segment::{SEGMENTS, Segment, place_of};
use crate::sync::atomic::Ordering::Relaxed;
use crate::together::together;

/// Segments with less than this part of their room left grow together with one that has none.
const SOON: u64 = 16;
/// Keys from which it is learned how to pack others.
const LESSON: usize = 1 << 14;

impl Shared {
    /// Makes room in a segment. When memory is short, its lines are filled more than is good for the speed.
    #[cold]
    pub fn grow(&mut self, number: usize) -> Result<(), Full> {
        match self.enlarge(number) {
            Ok(()) => Ok(()),
            Err(Full) => {
                let segment = &mut self.segments[number];
                let packed = ((WORDS as u64) << segment.bits) / 16 * 15;
                let already = segment.most >= packed || segment.most == 0;
                if !already {
                    segment.most = packed;
                }
                if already { Err(Full) } else { Ok(()) }
            }
        }
    }

    /// Makes room in a segment and in those that will soon need it, with up to `threads` threads: others have
    /// been stopped for it. What is done ahead may fail.
    #[cold]
    pub fn grow_together(&mut self, number: usize, threads: usize) -> Result<(), Full> {
        let (before, wanted) = (self.room(number), &self.segments[number]);
        let Some(mut left) = wanted
            .bytes_to_grow(wanted.step())
            .and_then(|bytes| self.limit.saturating_sub(self.memory()).checked_sub(bytes))
        else {
            return self.grow(number);
        };
        let (arena, mut keys) = (&self.arena, 0);
        let mut growing: Vec<&mut Segment> = Vec::new();
        for (other, segment) in self.segments.iter_mut().enumerate() {
            let len = segment.len.load(Relaxed);
            if other != number {
                let soon = len >= segment.most - segment.most / SOON;
                let bytes = segment.bytes_to_grow(segment.step()).filter(|&bytes| soon && bytes <= left);
                let Some(bytes) = bytes else { continue };
                left -= bytes;
            }
            keys += len;
            growing.push(segment);
        }
        // What came of the others is seen when their turn comes.
        together(&mut growing, keys, threads, |segment| {
            let _ = segment.grow(segment.step(), arena);
        });
        self.index_bytes = self.segments.iter().map(|segment| segment.lines.bytes()).sum();
        if self.room(number) == before { self.grow(number) } else { Ok(()) }
    }

    pub(super) fn enlarge(&mut self, number: usize) -> Result<(), Full> {
        let mut more = self.segments[number].step();
        loop {
            let segment = &self.segments[number];
            let (before, bytes) = (segment.lines.bytes(), segment.bytes_to_grow(more).ok_or(Full)?);
            if self.memory() + bytes > self.limit {
                return Err(Full);
            }
            let grown = self.segments[number].grow(more, &self.arena);
            self.index_bytes = self.index_bytes + self.segments[number].lines.bytes() - before;
            if grown? {
                return Ok(());
            }
            more += 1;
        }
    }

    /// Learns how to pack long keys, if it is time to.
    #[cold]
    pub fn learn(&mut self) {
        if self.arena.should_learn() {
            let keys = self.n_keys();
            let some = |segment: &Segment| segment.entries().take(LESSON / SEGMENTS).collect::<Vec<_>>();
            let entries: Vec<_> = self.segments.iter().flat_map(some).collect();
            self.arena.learn(keys, entries.into_iter().map(|(_, entry)| place_of(entry)));
        }
    }

    /// How many keys a segment may hold, which changes when and only when it was made room in.
    pub fn room(&self, number: usize) -> u64 {
        self.segments[number].most
    }
}
