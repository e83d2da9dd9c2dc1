//! Code and constants that have done their work leave the memory of the process.
//!
//! A compiler is large: with the front end it is most of the program's ten megabytes, and the system maps
//! pages around every one that is touched. A search uses very little of that, for a long time. With a compact
//! store a search of millions of states takes less memory than the compiler before it. So the pages are given
//! back when a search turns out to be longer; what is needed again comes from the system's cache at the next
//! touch, without reading the file.
//!
//! Only what the system can bring back is given back: pages of files that were never written in this process.
//! It says so itself (`/proc/self/smaps`). The heap has pages in which nothing is left; they go as well.
//! Elsewhere than on Linux nothing is done.

/// Gives back the pages of the program's file, and of libraries, that are only read or executed. Says how
/// many bytes of addresses that concerns.
pub fn forget_files() -> usize {
    #[cfg(target_os = "linux")]
    {
        let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") else { return 0 };
        mappings(&smaps).into_iter().filter(Mapping::can_come_back).map(|mapping| mapping.forget()).sum()
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Gives back the pages of the heap in which nothing is left. Where the heap is not that of the GNU library
/// nothing is done.
pub fn forget_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it gives back memory that is not in use, and has no other effect.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A range of addresses and what the system says of it.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    /// It is of a file, not shared with other processes, and nobody may write it.
    is_constant: bool,
    /// Kilobytes that differ from the file; `None` when the system does not say.
    written: Option<u64>,
}

#[cfg(target_os = "linux")]
impl Mapping {
    /// From the first line about it, such as `55d0c000-55d0f000 r-xp 00001000 08:01 1234 /usr/bin/name`.
    fn parse(line: &str) -> Option<Mapping> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        let (start, end) = (address(start)?, address(end)?);
        let permitted = words.next()?;
        let file = words.nth(3).is_some_and(|name| name.starts_with('/'));
        let is_constant = file && matches!(permitted, "r--p" | "r-xp");
        Some(Mapping { start, end, is_constant, written: None })
    }

    /// Whether all its pages are as in the file.
    fn can_come_back(&self) -> bool {
        self.is_constant && self.written == Some(0)
    }

    fn forget(&self) -> usize {
        let bytes = self.end - self.start;
        // SAFETY: the range is a private mapping of a file in which no page differs from the file, and which
        // nobody may write. So the advice, which drops the pages, changes no byte that can be read there: the
        // next touch reads the same from the file.
        let done = unsafe { libc::madvise(self.start as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
        if done == 0 { bytes } else { 0 }
    }
}

/// All mappings of a process, from what the system says.
#[cfg(target_os = "linux")]
fn mappings(smaps: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        match (line.strip_prefix("Anonymous:"), all.last_mut()) {
            (Some(written), Some(last)) => last.written = written.trim().trim_end_matches(" kB").parse().ok(),
            _ => all.extend(Mapping::parse(line)),
        }
    }
    all
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0c0000000-55d0c0003000 r-xp 00001000 08:01 1234    /usr/bin/some name
Size:                 12 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
55d0c0003000-55d0c0004000 r--p 00004000 08:01 1234    /usr/bin/name
Anonymous:             4 kB
55d0c0004000-55d0c0005000 rw-p 00004000 08:01 1234    /usr/bin/name
Anonymous:             0 kB
55d0c0005000-55d0c0006000 r-xp 00000000 00:00 0
Anonymous:             0 kB
7ffc0000000-7ffc0001000 r-xp 00000000 00:00 0    [vdso]
Anonymous:             0 kB
55d0c0006000-55d0c0007000 r--s 00000000 08:01 9    /usr/share/cache
Anonymous:             0 kB
55d0c0007000-55d0c0008000 r--p 00000000 08:01 9    /usr/lib/unknown
";

    #[test]
    fn only_what_was_never_written_can_come_back() {
        let all = mappings(SMAPS);
        assert_eq!(all.len(), 7);
        let forgotten: Vec<usize> =
            all.iter().filter(|mapping| mapping.can_come_back()).map(|mapping| mapping.start).collect();
        assert_eq!(forgotten, [0x55d0_c000_0000]);
        assert_eq!(all[0].end, 0x55d0_c000_3000);
    }

    /// Kilobytes of files in memory.
    fn of_files() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssFile:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    #[test]
    fn the_program_goes_on_with_less_memory() {
        let text = format!("{:?}", (0..100).collect::<Vec<u32>>());
        let before = of_files();
        assert!(forget_files() > 0);
        let after = of_files();
        assert!(before.zip(after).is_none_or(|(before, after)| after < before), "{before:?} {after:?}");
        assert_eq!(format!("{:?}", (0..100).collect::<Vec<u32>>()), text);
    }
}
