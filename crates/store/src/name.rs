//! Names of states as words: for lists that keep names of any store, and for files.

use crate::arena::RecordPlace;
use crate::numbered::Number;
use crate::tree::Root;

/// A name of a state that can be kept anywhere: two words.
pub trait Portable: Copy {
    /// As words.
    fn to_words(self) -> [u64; 2];

    /// The name that these words are.
    fn from_words(words: [u64; 2]) -> Self;
}

impl Portable for RecordPlace {
    fn to_words(self) -> [u64; 2] {
        [self.number(), 0]
    }

    fn from_words([number, _]: [u64; 2]) -> Self {
        RecordPlace::from_number(number)
    }
}

impl Portable for Root {
    fn to_words(self) -> [u64; 2] {
        let (left, right) = self.halves();
        [u64::from(self.family), u64::from(left) << 32 | u64::from(right)]
    }

    fn from_words([family, halves]: [u64; 2]) -> Self {
        Root::new(family as u32, ((halves >> 32) as u32, halves as u32))
    }
}

impl Portable for Number {
    fn to_words(self) -> [u64; 2] {
        [u64::from(self.0), 0]
    }

    fn from_words([number, _]: [u64; 2]) -> Self {
        Number(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_name() {
        let root = Root::new(7, (u32::MAX, 1 << 31));
        assert_eq!(Root::from_words(root.to_words()), root);
        let place = RecordPlace::from_number((1 << 40) - 1);
        assert_eq!(RecordPlace::from_words(place.to_words()), place);
        assert_eq!(Number::from_words(Number(u32::MAX).to_words()), Number(u32::MAX));
    }
}
