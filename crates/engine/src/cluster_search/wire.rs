//! What a process of a cluster found, and ways back, as bytes between processes of one version.

use crate::checkpoint::format::{read_fault, read_found, write_fault, write_found};
use archive::block::Damage;
use archive::states::{put_bytes, put_number, take_bytes, take_number};
use search::distributed::{PartFigures, PartResult, WayBack};
use search::{Cuts, Statistics};
use std::time::Duration;
use system::Fault;

/// What a process tells when it has ended.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// What it found.
    pub result: PartResult,
    /// What it could not read or send.
    pub broken: Option<String>,
}

/// As bytes.
pub fn write(told: &Told) -> Vec<u8> {
    let (mut out, PartResult { found, statistics: s, cuts, figures: f }) = (Vec::new(), &told.result);
    write_found(found, &mut out);
    let (expanded, waited) = (s.expanded.unwrap_or(0), f.waited.as_micros() as u64);
    let counts = [s.states, s.transitions, s.matched, s.slept, expanded, s.reduced, s.depth];
    let sizes = [s.state_bytes, s.vector_bytes];
    let figures = [f.states, f.received, f.sent, f.spared, f.parcels, f.bytes, waited, f.store, f.peak_rss];
    counts.into_iter().chain(sizes).chain(figures).for_each(|number| put_number(&mut out, number));
    put_number(&mut out, u64::from(cuts.atomic_loop()));
    put_number(&mut out, cuts.errors().len() as u64);
    cuts.errors().iter().for_each(|fault| write_fault(fault, &mut out));
    put_number(&mut out, u64::from(told.broken.is_some()));
    put_bytes(&mut out, told.broken.as_deref().unwrap_or_default().as_bytes());
    out
}

/// From bytes.
pub fn read(mut from: &[u8]) -> Result<Told, Damage> {
    let from = &mut from;
    let found = read_found(from)?;
    let mut numbers = [0; 18];
    for number in &mut numbers {
        *number = take_number(from)?;
    }
    let [states, transitions, matched, slept, expanded, reduced, depth, state_bytes, vector_bytes, rest @ ..] =
        numbers;
    let statistics = Statistics {
        states,
        transitions,
        matched,
        slept,
        expanded: Some(expanded),
        reduced,
        depth,
        state_bytes,
        vector_bytes,
        ..Statistics::default()
    };
    let [states, received, sent, spared, parcels, bytes, waited, store, peak_rss] = rest;
    let waited = Duration::from_micros(waited);
    let figures = PartFigures { states, received, sent, spared, parcels, bytes, waited, store, peak_rss };
    let atomic_loop = take_number(from)? != 0;
    let errors = (0..take_number(from)?).map(|_| read_fault(from)).collect::<Result<Vec<Fault>, Damage>>()?;
    let (has_broken, broken) = (take_number(from)? != 0, take_bytes(from)?);
    let broken = has_broken.then(|| String::from_utf8_lossy(broken).into_owned());
    if !from.is_empty() {
        return Err(Damage::LeftOver);
    }
    let cuts = Cuts::restored(atomic_loop, errors);
    Ok(Told { result: PartResult { found, statistics, cuts, figures }, broken })
}

/// A way back as bytes.
pub fn write_way(way: &WayBack) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(&mut out, way.edges.len() as u64);
    way.edges.iter().for_each(|&edge| put_number(&mut out, u64::from(edge)));
    let (rank, state) = way.on.map_or((0, 0), |(rank, state)| (rank as u64 + 1, state));
    put_number(&mut out, rank);
    put_number(&mut out, state);
    out
}

/// A way back; `None` where the bytes are none.
pub fn read_way(mut from: &[u8]) -> Option<WayBack> {
    let from = &mut from;
    let mut next = || take_number(from).ok();
    let edges = (0..next()?).map(|_| u32::try_from(next()?).ok()).collect::<Option<Vec<u32>>>()?;
    let (rank, state) = (usize::try_from(next()?).ok()?, next()?);
    let on = rank.checked_sub(1).map(|rank| (rank, state));
    from.is_empty().then_some(WayBack { edges, on })
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::{Finding, Findings, Spot};
    use system::{ActionId, FaultKind};

    #[test]
    fn what_was_found_is_read_as_it_was_written() {
        let fault = |kind| Fault {
            kind,
            message: "x".to_string(),
            file: "f".to_string(),
            line: 3,
            column: 4,
            process: Some("P".to_string()),
            pid: Some(0),
        };
        let spot = Spot { worker: 2, expansion: 1 << 40, more: vec![ActionId(1 << 60)] };
        let finding = Finding { fault: fault(FaultKind::Assertion), depth: u64::MAX, spot: spot.clone() };
        let cut = (fault(FaultKind::Runtime), spot.clone());
        let found = Findings::restored(7, vec![finding], vec![cut], Some(spot));
        let statistics =
            Statistics { states: 1, transitions: 2, matched: 3, expanded: Some(4), ..Statistics::default() };
        let figures = PartFigures { sent: 5, waited: Duration::from_micros(9), ..PartFigures::default() };
        let cuts = Cuts::restored(true, vec![fault(FaultKind::Runtime)]);
        for broken in [None, Some("why".to_string())] {
            let result = PartResult { found: found.clone(), statistics, cuts: cuts.clone(), figures };
            let bytes = write(&Told { result, broken: broken.clone() });
            let told = read(&bytes).unwrap();
            assert_eq!((told.result.statistics, told.result.figures), (statistics, figures));
            assert_eq!((told.broken, told.result.found.list()), (broken, found.list()));
            assert_eq!((told.result.found.errors, told.result.found.cuts()), (7, found.cuts()));
            assert_eq!(told.result.cuts.errors(), cuts.errors());
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end]).is_err());
            }
        }
    }

    #[test]
    fn ways_are_read_as_they_were_written() {
        for on in [None, Some((0, 5)), Some((3, 1 << 40))] {
            let way = WayBack { edges: vec![0, 1, 300, u32::MAX], on };
            assert_eq!(read_way(&write_way(&way)), Some(way.clone()));
            assert_eq!(read_way(&write_way(&way)[1..]), None);
        }
    }
}
