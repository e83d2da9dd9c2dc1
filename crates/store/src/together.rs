//! Work of one who is alone with a store, done by several threads.
//!
//! While a store grows its workers wait, and their processors have nothing to do. So large growth is taken
//! apart and given to threads that live just as long. To start one takes some ten microseconds, so there must
//! be work for much longer; a store stops its workers for such work a few dozen times in its life. (Workers
//! who help themselves instead would need what is being changed behind a second lock.)

use crate::sync::{Mutex, PoisonError};

/// Keys that are worth a thread: to move them takes several hundred microseconds.
const WORTH_A_THREAD: u64 = 1 << 15;

/// The stack of a thread that moves keys.
const STACK_BYTES: usize = 2 << 20;

/// Does `work` on every piece, with up to `threads` threads where the pieces have enough keys together.
pub(crate) fn together<T: Send>(pieces: &mut [T], keys: u64, threads: usize, work: impl Fn(&mut T) + Sync) {
    let worth = if cfg!(loom) { 1 } else { usize::try_from(keys / WORTH_A_THREAD).unwrap_or(usize::MAX) };
    let threads = threads.min(worth).min(pieces.len());
    if threads <= 1 {
        pieces.iter_mut().for_each(work);
        return;
    }
    let left = Mutex::new(pieces.iter_mut());
    let work = || {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            match next {
                Some(piece) => work(piece),
                None => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // One that cannot be started is not missed: there is less help.
            let _ = crate::threads::start(scope, "growth", STACK_BYTES, work);
        }
        work();
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::thread::{ThreadId, current};

    #[test]
    fn every_piece_is_done_once_by_as_many_as_it_is_worth() {
        for (keys, threads, most) in
            [(0, 4, 1), (WORTH_A_THREAD * 2, 4, 2), (u64::MAX, 4, 4), (u64::MAX, 1, 1)]
        {
            let mut pieces = vec![(0u32, None::<ThreadId>); 100];
            together(&mut pieces, keys, threads, |piece| *piece = (piece.0 + 1, Some(current().id())));
            assert!(pieces.iter().all(|piece| piece.0 == 1));
            let by: HashSet<_> = pieces.iter().filter_map(|piece| piece.1).collect();
            assert!((1..=most).contains(&by.len()), "{} threads", by.len());
        }
    }
}
