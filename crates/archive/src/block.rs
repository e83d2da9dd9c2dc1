//! Blocks: bytes with a kind, a length and a check sum, compressed where that makes them shorter.
//!
//! A block is: its kind (one byte), whether it is compressed (one byte), the number of its bytes, how many of
//! them are stored (four bytes each), the bytes, and the check sum of all that (eight bytes). Compression is
//! Zstandard's.

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use system::portable::StableHash;

/// Bytes before the contents.
const HEAD: usize = 10;
/// No block is longer, so that a length that was altered does not ask for all memory.
pub const MOST_BYTES: usize = 1 << 26;
/// Shorter ones are not worth the trouble.
const WORTH_COMPRESSING: usize = 256;

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Damage {
    /// It ends too early.
    Truncated,
    /// Bytes in it were altered.
    Altered,
    /// There are bytes behind its end.
    LeftOver,
    /// It cannot be read.
    Unreadable(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Truncated => write!(f, "it ends too early"),
            Damage::Altered => write!(f, "it was altered: a check sum is wrong"),
            Damage::LeftOver => write!(f, "there are bytes behind its end"),
            Damage::Unreadable(why) => write!(f, "it cannot be read: {why}"),
        }
    }
}

impl std::error::Error for Damage {}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Damage::Truncated,
            _ => Damage::Unreadable(error.to_string()),
        }
    }
}

/// A block that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// What the bytes are.
    pub kind: u8,
    /// As they were written.
    pub bytes: Vec<u8>,
    /// The check sum, for a sum of sums.
    pub sum: u64,
    /// The length of the block in the file.
    pub len: u64,
}

/// What was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The check sum, for a sum of sums.
    pub sum: u64,
    /// The length of the block in the file.
    pub len: u64,
}

/// Writes a block.
pub fn write_block(out: &mut dyn Write, kind: u8, bytes: &[u8]) -> io::Result<Written> {
    debug_assert!(bytes.len() <= MOST_BYTES, "blocks are limited");
    let shorter = (bytes.len() >= WORTH_COMPRESSING)
        .then(|| compress_to_vec(bytes, CompressionLevel::Fastest))
        .filter(|packed| packed.len() < bytes.len());
    let stored = shorter.as_deref().unwrap_or(bytes);
    let mut head = [0; HEAD];
    head[0] = kind;
    head[1] = u8::from(shorter.is_some());
    head[2..6].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    head[6..].copy_from_slice(&(stored.len() as u32).to_le_bytes());
    let sum = check_sum(&head, stored);
    out.write_all(&head)?;
    out.write_all(stored)?;
    out.write_all(&sum.to_le_bytes())?;
    Ok(Written { sum, len: (HEAD + stored.len() + 8) as u64 })
}

fn check_sum(head: &[u8; HEAD], stored: &[u8]) -> u64 {
    StableHash::new(2).bytes(head).bytes(stored).finish()
}

/// Reads blocks, one after another.
#[derive(Debug)]
pub struct Blocks<R> {
    from: R,
}

impl<R: Read> Blocks<R> {
    /// From where a block begins.
    pub fn new(from: R) -> Self {
        Blocks { from }
    }

    /// The next block, which must be there.
    pub fn block(&mut self) -> Result<Block, Damage> {
        let mut head = [0; HEAD];
        self.from.read_exact(&mut head)?;
        let length = |at: usize| head[at..].first_chunk().map_or(0, |n| u32::from_le_bytes(*n)) as usize;
        let (plain, stored) = (length(2), length(6));
        if plain > MOST_BYTES || stored > plain || head[1] > 1 {
            return Err(Damage::Altered);
        }
        let (mut bytes, mut sum) = (vec![0; stored], [0; 8]);
        self.from.read_exact(&mut bytes)?;
        self.from.read_exact(&mut sum)?;
        let sum = u64::from_le_bytes(sum);
        if check_sum(&head, &bytes) != sum {
            return Err(Damage::Altered);
        }
        if head[1] == 1 {
            bytes = unpacked(&bytes, plain)?;
        }
        if bytes.len() != plain {
            Err(Damage::Altered)
        } else {
            Ok(Block { kind: head[0], bytes, sum, len: (HEAD + stored + 8) as u64 })
        }
    }

    /// Nothing follows.
    pub fn end(mut self) -> Result<(), Damage> {
        match self.from.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(Damage::LeftOver),
        }
    }
}

fn unpacked(bytes: &[u8], plain: usize) -> Result<Vec<u8>, Damage> {
    let decoder = StreamingDecoder::new(bytes).map_err(|_| Damage::Altered)?;
    let mut out = Vec::with_capacity(plain);
    // One byte more than there should be is enough to know.
    decoder.take(plain as u64 + 1).read_to_end(&mut out).map_err(|_| Damage::Altered)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut file = Vec::new();
        let dull = vec![7; 5000];
        let lively: Vec<u8> = (0..3000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for (kind, bytes) in [(1, &dull[..]), (2, &lively[..]), (3, &[]), (4, &[1, 2, 3])] {
            write_block(&mut file, kind, bytes).unwrap();
        }
        file
    }

    fn read(file: &[u8]) -> Result<Vec<Block>, Damage> {
        let mut blocks = Blocks::new(file);
        let read = (0..4).map(|_| blocks.block()).collect::<Result<Vec<Block>, Damage>>()?;
        blocks.end().map(|()| read)
    }

    #[test]
    fn what_was_written_is_read() {
        let file = sample();
        let blocks = read(&file).unwrap();
        assert_eq!(blocks.iter().map(|block| block.bytes.len()).collect::<Vec<_>>(), [5000, 3000, 0, 3]);
        assert_eq!(blocks[3].bytes, [1, 2, 3]);
        assert!(file.len() < 5000, "what can be compressed is");
    }

    #[test]
    fn every_change_is_noticed() {
        let file = sample();
        for at in 0..file.len() {
            assert!(read(&file[..at]).is_err(), "cut off at {at}");
            let mut altered = file.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(read(&altered).is_err(), "altered at {at}");
        }
        let longer = [&file[..], &[0]].concat();
        assert_eq!(read(&longer), Err(Damage::LeftOver));
    }
}
