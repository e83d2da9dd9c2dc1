//! What a search needs of a device that runs PTX.

use std::fmt::{self, Display, Formatter};

/// What went wrong with a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceError {
    /// There is none that can be used; what is missing.
    Missing(String),
    /// It has no more memory.
    Memory,
    /// It does not do what it should.
    Broken(String),
}

impl Display for DeviceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Missing(what) => f.write_str(what),
            DeviceError::Memory => f.write_str("the GPU has not enough free memory"),
            DeviceError::Broken(what) => write!(f, "the GPU failed: {what}"),
        }
    }
}

/// A device with one kernel, `level`, and memory that is addressed by numbers.
pub trait Device {
    /// What it is called.
    fn name(&self) -> String;

    /// Bytes of memory that nobody uses.
    fn free(&self) -> Result<u64, DeviceError>;

    /// Multiprocessors.
    fn units(&self) -> u32;

    /// Makes code of a text; the one before is forgotten.
    fn load(&mut self, text: &str) -> Result<(), DeviceError>;

    /// Takes memory, whose contents are anything.
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError>;

    /// Gives all memory back.
    fn release(&mut self);

    /// Makes memory 0.
    fn zero(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError>;

    /// Writes words.
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), DeviceError>;

    /// Reads bytes.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Runs the kernel and waits for its end.
    fn launch(&mut self, blocks: u32, parameters: &[u64]) -> Result<(), DeviceError>;
}

/// Reads words.
pub fn read_words(device: &mut dyn Device, at: u64, n: usize) -> Result<Vec<u64>, DeviceError> {
    let mut bytes = vec![0; 8 * n];
    device.read(at, &mut bytes)?;
    let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().unwrap_or_default());
    Ok(bytes.chunks_exact(8).map(word).collect())
}
