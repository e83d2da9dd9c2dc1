//! Buckets: states at the ends of atomic sequences, by the level in which they are to be inserted.
//!
//! This is the array of buckets of R. Dial (Algorithm 360, CACM 1969): a state that is k steps away waits in
//! the k-th of them.

use crate::ancestry::Ordinal;
use crate::chunks::Chunks;
use crate::disk::{Disk, Spill, word};
use crate::outcome::StopReason;
use std::collections::{TryReserveError, VecDeque};
use std::sync::Arc;

/// Of the memory that is for what may be on a disk, this part of a worker's is for a bucket: mostly few are in
/// use.
const PART: u64 = 8;
/// Bytes in front of a state: parent, edge and length.
const HEAD: usize = 16;

/// States at the ends of atomic sequences, by the level in which they are to be inserted.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    /// The first is for the present level.
    buckets: VecDeque<Bucket>,
    spill: Option<Spill>,
}

/// A state that waits: parent, edge and bytes.
type Apart<'b> = (Ordinal, u32, &'b [u8]);

/// States that are to be inserted in one level, first in, first out.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    states: Chunks<u8>,
    len: u64,
}

impl Bucket {
    /// The next state.
    pub fn next(&mut self) -> Result<Option<Apart<'_>>, StopReason> {
        if self.len == 0 {
            return Ok(None);
        }
        self.len -= 1;
        let head = self.states.take(HEAD).and_then(|head| Some((word(head, 0)?, word(head, 1)?)));
        let (parent, number_and_len) = head.ok_or(StopReason::Disk)?;
        let state = self.states.take((number_and_len >> 32) as usize).ok_or(StopReason::Disk)?;
        Ok(Some((parent, number_and_len as u32, state)))
    }
}

impl Buckets {
    /// What waits may be on this disk from now on; so many workers share it.
    pub fn spill_to(&mut self, disk: &Arc<dyn Disk>, workers: u64) {
        self.spill = Some(Spill::new(disk, PART * workers));
    }

    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Lets a state wait until `steps` buckets further on.
    pub fn push(
        &mut self,
        steps: u32,
        parent: Ordinal,
        number: u32,
        state: &[u8],
    ) -> Result<(), TryReserveError> {
        // The present level's has been taken out: the first waits for the next level.
        let at = steps as usize - 1;
        while self.buckets.len() <= at {
            let mut bucket = Bucket::default();
            self.spill.iter().for_each(|spill| bucket.states.spill_to(spill.clone()));
            self.buckets.push_back(bucket);
        }
        let bucket = &mut self.buckets[at];
        let room = bucket.states.room(HEAD + state.len())?;
        room.extend_from_slice(&parent.to_le_bytes());
        room.extend_from_slice(&((state.len() as u64) << 32 | u64::from(number)).to_le_bytes());
        room.extend_from_slice(state);
        bucket.len += 1;
        Ok(())
    }

    /// Those who waited for the level that begins now.
    pub fn next_level(&mut self) -> Bucket {
        self.buckets.pop_front().unwrap_or_default()
    }

    pub fn memory(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.states.memory()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::TestDisk;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn states_wait_on_a_disk_as_in_memory() {
        let disk = TestDisk::new(0);
        let shared: Arc<dyn Disk> = Arc::clone(&disk) as _;
        let mut buckets = Buckets::default();
        buckets.spill_to(&shared, 1);
        let state = |n: u64| vec![n as u8; (n % 300) as usize];
        (0..20_000).for_each(|n| buckets.push(1 + (n % 2) as u32, n, 7 * n as u32, &state(n)).unwrap());
        assert!(buckets.memory() < 1 << 21 && disk.written.load(Relaxed) > 1 << 20);
        for parity in 0..2 {
            let mut bucket = buckets.next_level();
            for n in (0..20_000).filter(|n| n % 2 == parity) {
                assert_eq!(bucket.next(), Ok(Some((n, 7 * n as u32, &state(n)[..]))));
            }
            assert_eq!(bucket.next(), Ok(None));
        }
        assert!(buckets.is_empty());
    }
}
