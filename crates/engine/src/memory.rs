//! How much memory a check may use when nobody says: a safe share of what is free.

/// What is taken when the system does not tell.
const FALLBACK: u64 = 2 << 30;

/// 70 % of the memory that is available.
pub fn default_limit() -> u64 {
    available().map_or(FALLBACK, |bytes| bytes / 10 * 7)
}

/// The memory that is available, within the limits of the control group, where the system tells.
pub fn available() -> Option<u64> {
    [meminfo_available(), control_group_free()].into_iter().flatten().min()
}

fn meminfo_available() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// `MemAvailable` of a `/proc/meminfo`, in bytes.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn control_group_free() -> Option<u64> {
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_understood() {
        let text = "MemTotal:       16318420 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n";
        assert_eq!(available_in(text), Some(8_192_000));
        assert_eq!(available_in("MemTotal: 1 kB"), None);
        assert_eq!(available_in("MemAvailable: many kB"), None);
        assert!(default_limit() > 0);
    }
}
