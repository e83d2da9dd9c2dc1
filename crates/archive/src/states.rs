//! States in blocks: each is its length and its bytes.
//!
//! States that were found one after another are alike, which the compression of a block makes use of.

use crate::block::Damage;

/// A block is written when it is about as long as this.
pub const BLOCK: usize = 1 << 18;

/// Appends a number: seven bits a byte, the lowest first.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front.
pub fn take_number(from: &mut &[u8]) -> Result<u64, Damage> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or(Damage::Truncated)?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damage::Altered)
}

/// Appends bytes and their number.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes bytes from the front.
pub fn take_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Damage> {
    let len = usize::try_from(take_number(from)?).map_err(|_| Damage::Altered)?;
    let (bytes, rest) = from.split_at_checked(len).ok_or(Damage::Truncated)?;
    *from = rest;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_come_back() {
        let mut out = Vec::new();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|&number| put_number(&mut out, number));
        put_bytes(&mut out, b"state");
        let mut from = &out[..];
        numbers.iter().for_each(|&number| assert_eq!(take_number(&mut from), Ok(number)));
        assert_eq!(take_bytes(&mut from), Ok(&b"state"[..]));
        assert_eq!(take_number(&mut from), Err(Damage::Truncated));
        assert_eq!(take_bytes(&mut &[9u8, 1][..]), Err(Damage::Truncated));
        assert_eq!(take_number(&mut &[0xff; 12][..]), Err(Damage::Altered));
    }
}
