//! Values of options: how a word is read, how a value is written, and what it means to give an option again.

use super::choice::{self, Choice};
use crate::failure::Failure;
use std::time::Duration;

/// A value that is written as one word.
pub trait Value: Sized {
    /// The kind of value.
    const KIND: Kind;

    /// Reads a word; `option` is the option's name with its dashes, for messages.
    fn read(option: &str, word: &str) -> Result<Self, Failure>;

    /// The word that is read as this value.
    fn write(&self) -> String;

    /// All words, where there are few.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }
}

/// The kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No value: the option is given or not.
    Flag,
    /// A number from 0.
    Number,
    /// A number of bytes, with a unit.
    Size,
    /// A time, with a unit.
    Time,
    /// One of a few words.
    Choice,
    /// Some of a few words, with commas.
    List,
    /// Any text.
    Text,
}

impl Value for u64 {
    const KIND: Kind = Kind::Number;

    fn read(option: &str, word: &str) -> Result<Self, Failure> {
        word.parse().map_err(|_| {
            Failure::refused_with(
                format!("{option} {word:?} is not a number"),
                format!("give a whole number, 0 or more, such as {option} 4"),
            )
        })
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;

    fn read(_: &str, word: &str) -> Result<Self, Failure> {
        Ok(word.to_string())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

impl<C: Choice> Value for C {
    const KIND: Kind = Kind::Choice;

    fn read(_: &str, word: &str) -> Result<Self, Failure> {
        C::of_word(word)
    }

    fn write(&self) -> String {
        self.word().to_string()
    }

    fn words() -> Vec<&'static str> {
        choice::words::<C>()
    }
}

/// A set of choices, in the order given; `none` is the empty one.
impl<C: Choice> Value for Vec<C> {
    const KIND: Kind = Kind::List;

    fn read(option: &str, word: &str) -> Result<Self, Failure> {
        let words: Vec<&str> = word.split(',').map(str::trim).collect();
        if words == ["none"] {
            return Ok(Vec::new());
        }
        if words.contains(&"none") {
            return Err(Failure::refused_with(
                format!("{option} none excludes every other value"),
                format!("use {option} none alone"),
            ));
        }
        let mut set = Vec::new();
        for word in words {
            let known =
                C::of_word(word).map_err(|_| choice::unknown(C::NOUN, word, <Self as Value>::words()))?;
            if !set.contains(&known) {
                set.push(known);
            }
        }
        Ok(set)
    }

    fn write(&self) -> String {
        match &self[..] {
            [] => "none".to_string(),
            some => some.iter().map(|choice| choice.word()).collect::<Vec<&str>>().join(","),
        }
    }

    fn words() -> Vec<&'static str> {
        [vec!["none"], choice::words::<C>()].concat()
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size(pub u64);

/// No model is checked in less memory than this: a smaller number without a unit lacks the unit.
const LEAST_BYTES: u64 = 1 << 20;
/// The units of a size, with the power of two that each stands for.
const UNITS: [(&str, u32); 5] = [("T", 40), ("G", 30), ("M", 20), ("K", 10), ("", 0)];

impl Value for Size {
    const KIND: Kind = Kind::Size;

    fn read(option: &str, word: &str) -> Result<Self, Failure> {
        let bytes = parse_size(word).ok_or_else(|| {
            Failure::refused_with(format!("{option} {word:?} is not a size"), "write it as 500M or 4G")
        })?;
        let without_unit = word.trim().ends_with(|c: char| c.is_ascii_digit());
        match without_unit && bytes < LEAST_BYTES {
            true => Err(Failure::refused_with(
                format!("{option} {bytes} is {bytes} bytes, too little for any model"),
                format!("did you mean {bytes}M? units are K, M, G and T"),
            )),
            false => Ok(Size(bytes)),
        }
    }

    fn write(&self) -> String {
        let whole = |shift: u32| self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift);
        let (unit, shift) = UNITS.into_iter().find(|&(_, shift)| whole(shift)).unwrap_or(("K", 10));
        format!("{}{unit}", self.0 >> shift)
    }
}

/// A size such as `512M`: bytes, or with a suffix K, M, G or T for powers of 1024 (`KB` and `KiB` mean the
/// same).
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_uppercase();
    let unit = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B')).unwrap_or(&unit);
    let (_, shift) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(1 << shift)
}

impl Value for Duration {
    const KIND: Kind = Kind::Time;

    fn read(option: &str, word: &str) -> Result<Self, Failure> {
        let seconds = parse_seconds(word).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.ok_or_else(|| {
            Failure::refused_with(
                format!("{option} {word:?} is not a time"),
                "write it as 10 (seconds), 500ms, 10s, 5m or 1h",
            )
        })
    }

    fn write(&self) -> String {
        self.as_secs_f64().to_string()
    }
}

/// A time in seconds: a number, or a number with a unit.
fn parse_seconds(word: &str) -> Option<f64> {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &word[number.len()..] {
        "" | "s" | "sec" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * unit)
}

/// The place of an option in a request: empty until the option is given.
pub trait Slot {
    /// The kind of its values.
    const KIND: Kind;
    /// Whether the option may be given several times, and all of them count.
    const REPEATS: bool = false;

    /// Gives the option; a flag has an empty word.
    fn give(&mut self, option: &str, word: &str) -> Result<(), Failure>;

    /// The words with which it is given, one for each time.
    fn given(&self) -> Vec<String>;

    /// What `over` gives counts; lists are joined.
    fn override_with(&mut self, over: &Self);

    /// All words, where there are few.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }
}

impl Slot for bool {
    const KIND: Kind = Kind::Flag;

    fn give(&mut self, _: &str, _: &str) -> Result<(), Failure> {
        *self = true;
        Ok(())
    }

    fn given(&self) -> Vec<String> {
        if *self { vec![String::new()] } else { Vec::new() }
    }

    fn override_with(&mut self, over: &Self) {
        *self |= over;
    }
}

impl<V: Value + Clone> Slot for Option<V> {
    const KIND: Kind = V::KIND;

    fn give(&mut self, option: &str, word: &str) -> Result<(), Failure> {
        *self = Some(V::read(option, word)?);
        Ok(())
    }

    fn given(&self) -> Vec<String> {
        self.iter().map(V::write).collect()
    }

    fn override_with(&mut self, over: &Self) {
        if over.is_some() {
            self.clone_from(over);
        }
    }

    fn words() -> Vec<&'static str> {
        V::words()
    }
}

/// Given several times, each time one text.
impl Slot for Vec<String> {
    const KIND: Kind = Kind::Text;
    const REPEATS: bool = true;

    fn give(&mut self, _: &str, word: &str) -> Result<(), Failure> {
        self.push(word.to_string());
        Ok(())
    }

    fn given(&self) -> Vec<String> {
        self.clone()
    }

    fn override_with(&mut self, over: &Self) {
        self.extend(over.iter().cloned());
    }
}

/// Given several times, each time one or more choices.
impl<C: Choice> Slot for Vec<C> {
    const KIND: Kind = Kind::List;
    const REPEATS: bool = true;

    fn give(&mut self, _: &str, word: &str) -> Result<(), Failure> {
        for word in word.split(',') {
            self.push(C::of_word(word.trim())?);
        }
        Ok(())
    }

    fn given(&self) -> Vec<String> {
        self.iter().map(|choice| choice.word().to_string()).collect()
    }

    fn override_with(&mut self, over: &Self) {
        self.extend(over);
    }

    fn words() -> Vec<&'static str> {
        choice::words::<C>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::StaticReduction;
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("1000"), Some(1000));
        assert_eq!(parse_size("4K"), Some(4096));
        assert_eq!(parse_size(" 2 GiB"), Some(2 << 30));
        assert_eq!(parse_size("1mb"), Some(1 << 20));
        for wrong in ["", "G", "-1", "1.5G", "12X", "99999999999T", "1GG"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
        for (given, written) in [("6M", "6M"), ("1024M", "1G"), ("1536K", "1536K"), ("2000000", "2000000")] {
            assert_eq!(Size::read("--max-memory", given).map(|size| size.write()), Ok(written.to_string()));
        }
        assert_eq!(Size(0).write(), "0K");
    }

    #[test]
    fn times_have_units() {
        let read = |word| Duration::read("--timeout", word).ok().map(|time| time.as_secs_f64());
        assert_eq!(["10", "1.5", "10s", "5m", "1h"].map(read), [10.0, 1.5, 10.0, 300.0, 3600.0].map(Some));
        assert_eq!((read("500ms"), read("2min")), (Some(0.5), Some(120.0)));
        for wrong in ["", "s", "inf", "nan", "5x", "1m30s", "ten", "-1", "1e300h"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(Duration::from_millis(500).write(), "0.5");
    }

    #[test]
    fn lists_have_an_empty_one() {
        let read = |word| <Vec<StaticReduction> as Value>::read("--opt", word);
        assert_eq!(read("none"), Ok(Vec::new()));
        assert_eq!(read("fold, fold,merge").map(|set| set.write()), Ok("fold,merge".to_string()));
        let Err(Failure::Refused { message, .. }) = read("none,merge") else { panic!("accepted") };
        assert!(message.contains("excludes"));
    }
}
