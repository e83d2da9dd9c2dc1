//! A batch: what timely moves as one record, from one process to one other.
//!
//! It is a container of its own, so that it is routed as a whole and its bytes are not decoded: what is
//! received are the bytes of the network buffer. In front of the parcel stand who it is for, who sent it, its
//! length, and how many bytes the sender has taken of what its receiver sent: these are acknowledged.

use std::io::Write;
use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// Bytes in front of the parcel: three numbers of four bytes, four for nothing, one of eight.
const HEAD: usize = 24;

/// A batch. Without a parcel it is an acknowledgement alone.
#[derive(Clone, Default)]
pub(crate) enum Batch {
    /// What containers are before they are filled.
    #[default]
    Nothing,
    /// Made here.
    Own(Own),
    /// Received.
    Wire(Bytes),
}

/// A batch that was made here.
#[derive(Clone)]
pub(crate) struct Own {
    pub to: usize,
    pub from: usize,
    /// Bytes that were taken of what the receiver sent.
    pub taken: u64,
    pub parcel: Vec<u8>,
}

impl Batch {
    /// Who it is for.
    fn to(&self) -> usize {
        match self {
            Batch::Nothing => 0,
            Batch::Own(own) => own.to,
            Batch::Wire(bytes) => number(bytes, 0) as usize,
        }
    }

    /// Who sent it.
    pub fn from(&self) -> usize {
        match self {
            Batch::Nothing => 0,
            Batch::Own(own) => own.from,
            Batch::Wire(bytes) => number(bytes, 4) as usize,
        }
    }

    /// Bytes that the sender acknowledges.
    pub fn taken(&self) -> u64 {
        match self {
            Batch::Nothing => 0,
            Batch::Own(own) => own.taken,
            Batch::Wire(bytes) => {
                bytes.get(16..HEAD).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
            }
        }
    }

    /// What the receiver is to take.
    pub fn parcel(&self) -> &[u8] {
        match self {
            Batch::Nothing => &[],
            Batch::Own(own) => &own.parcel,
            Batch::Wire(bytes) => bytes.get(HEAD..HEAD + number(bytes, 8) as usize).unwrap_or_default(),
        }
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl Accountable for Batch {
    fn record_count(&self) -> i64 {
        i64::from(!matches!(self, Batch::Nothing))
    }
}

/// Timely wants lengths that are multiples of eight.
fn padded(len: usize) -> usize {
    len.next_multiple_of(8)
}

impl ContainerBytes for Batch {
    fn from_bytes(bytes: Bytes) -> Self {
        Batch::Wire(bytes)
    }

    fn length_in_bytes(&self) -> usize {
        padded(HEAD + self.parcel().len())
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let parcel = self.parcel();
        let mut head = [0; HEAD];
        for (at, number) in [self.to(), self.from(), parcel.len()].into_iter().enumerate() {
            head[4 * at..4 * at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        head[16..].copy_from_slice(&self.taken().to_le_bytes());
        let rest = self.length_in_bytes() - HEAD - parcel.len();
        for part in [&head[..], parcel, &[0; 8][..rest]] {
            // The writer is a buffer of timely, of the length that was asked for.
            let written = writer.write_all(part);
            debug_assert!(written.is_ok());
        }
    }
}

/// Sends each batch to the process that it is for.
pub(crate) struct Route;

impl Distributor<Batch> for Route {
    fn partition<T: Clone, P: Push<Message<T, Batch>>>(
        &mut self,
        batch: &mut Batch,
        time: &T,
        pushers: &mut [P],
    ) {
        let to = batch.to();
        if let Some(pusher) = pushers.get_mut(to) {
            Message::push_at(batch, time.clone(), pusher);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Batch>>>(&mut self, _time: &T, _pushers: &mut [P]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use timely::bytes::arc::BytesMut;

    #[test]
    fn what_is_written_is_read() {
        for len in [0, 1, 7, 8, 1000] {
            let parcel: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let batch = Batch::Own(Own { to: 3, from: 70_000, taken: 1 << 40, parcel: parcel.clone() });
            let mut bytes = Vec::new();
            batch.into_bytes(&mut bytes);
            assert_eq!((bytes.len(), bytes.len() % 8), (batch.length_in_bytes(), 0));
            let read = Batch::from_bytes(BytesMut::from(bytes).freeze());
            assert_eq!((read.to(), read.from(), read.taken()), (3, 70_000, 1 << 40));
            assert_eq!((read.parcel(), read.record_count()), (&parcel[..], 1));
        }
        assert_eq!(Batch::default().record_count(), 0);
    }
}
