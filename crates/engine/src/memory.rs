//! How much memory a check may use, and who says so: `--max-memory`, or a safe share of the tightest limit
//! around the process.
//!
//! Looked at are the memory that the machine has free, the limits of the process (`ulimit -v`, `ulimit -d`)
//! and those of its control group and of every group around it (versions 1 and 2). All of it is read from
//! files of Linux, through [`Look`], so that tests can make them up; elsewhere a fixed amount is assumed.

use crate::report_text::bytes;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is taken when the system does not tell.
const FALLBACK: u64 = 2 << 30;
/// A limit of a control group that is larger is none: version 1 writes about 2^63 where there is no limit.
const NO_LIMIT: u64 = 1 << 60;

/// Who limits the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `--max-memory`.
    Request,
    /// The memory that the machine had free.
    Machine,
    /// The limit on the address space of the process, in bytes.
    AddressSpace(u64),
    /// The limit on the data of the process, in bytes.
    Data(u64),
    /// The limit of a control group.
    ControlGroup {
        /// As the system names it.
        group: String,
        /// Its limit.
        limit: u64,
    },
    /// Nobody; the amount is a guess.
    Nobody,
}

/// How much memory a check may use, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes.
    pub bytes: u64,
    /// Who says so.
    pub by: Source,
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Source::Request => write!(f, "the limit is {}, --max-memory", bytes(self.bytes)),
            Source::Machine | Source::Nobody => {
                let what = if self.by == Source::Machine { "70 % of what was free" } else { "a guess" };
                write!(f, "the limit is {}, {what}; --max-memory sets another", bytes(self.bytes))
            }
            Source::AddressSpace(limit) => {
                write!(f, "the address-space limit, ulimit -v, is {}", bytes(*limit))
            }
            Source::Data(limit) => write!(f, "the limit on data, ulimit -d, is {}", bytes(*limit)),
            Source::ControlGroup { group, limit } => {
                write!(f, "the limit of the control group {group} is {}", bytes(*limit))
            }
        }
    }
}

/// Reads a file; `None` where there is none.
type Look<'a> = &'a dyn Fn(&Path) -> Option<String>;

fn look(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// What a check may use: what is asked for, unless the process may not have so much, or 70 % of what is free.
pub fn allowance(requested: Option<u64>) -> Allowance {
    allowance_among(requested, ceilings(&look))
}

/// The memory that is available within all limits, where the system tells.
pub fn available() -> Option<u64> {
    ceilings(&look).into_iter().map(|ceiling| ceiling.free).min()
}

/// Shares of a budget that a bit array takes. It does not grow, so what waits and everything else needs the
/// rest; in a small budget that is more.
const SMALL_BUDGET: u64 = 64 << 20;
/// The smallest array.
const LEAST_ARRAY: u64 = 64 << 10;

/// How large a bit array is within a limit, of which so much is in use before.
pub fn bit_array(limit: u64, in_use: u64) -> u64 {
    let free = limit.saturating_sub(in_use);
    let small = free.min(SMALL_BUDGET);
    (small / 2 + (free - small) / 4 * 3).max(LEAST_ARRAY)
}

/// How much memory is free below a limit.
#[derive(Debug, PartialEq, Eq)]
struct Ceiling {
    free: u64,
    by: Source,
}

fn allowance_among(requested: Option<u64>, ceilings: Vec<Ceiling>) -> Allowance {
    // What the machine has free is no limit to who insists: other processes may end, and pages may be written
    // to disk.
    let holds = |ceiling: &Ceiling| requested.is_none() || ceiling.by != Source::Machine;
    let tightest = ceilings.into_iter().filter(holds).min_by_key(|ceiling| ceiling.free);
    match (requested, tightest) {
        (Some(bytes), Some(Ceiling { free, by })) if free < bytes => Allowance { bytes: free, by },
        (Some(bytes), _) => Allowance { bytes, by: Source::Request },
        (None, Some(Ceiling { free, by })) => Allowance { bytes: free / 10 * 7, by },
        (None, None) => Allowance { bytes: FALLBACK, by: Source::Nobody },
    }
}

/// All limits that the system tells of.
fn ceilings(look: Look<'_>) -> Vec<Ceiling> {
    let mut all = Vec::new();
    all.extend(machine(look));
    all.extend(process(look, "Max address space", "VmSize:", Source::AddressSpace));
    all.extend(process(look, "Max data size", "VmData:", Source::Data));
    all.extend(control_groups(look));
    all
}

fn machine(look: Look<'_>) -> Option<Ceiling> {
    let free = kilobytes(&look(Path::new("/proc/meminfo"))?, "MemAvailable:")?;
    Some(Ceiling { free, by: Source::Machine })
}

/// A line such as `MemAvailable:    8000 kB`, in bytes.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A limit of the process, in the words of `/proc/self/limits`, and what counts against it.
fn process(look: Look<'_>, limit: &str, used: &str, by: fn(u64) -> Source) -> Option<Ceiling> {
    let limits = look(Path::new("/proc/self/limits"))?;
    let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
    // The soft limit; `unlimited` is no number.
    let limit = line.split_whitespace().next()?.parse::<u64>().ok()?;
    let used = kilobytes(&look(Path::new("/proc/self/status"))?, used).unwrap_or(0);
    Some(Ceiling { free: limit.saturating_sub(used), by: by(limit) })
}

/// The files in which a version of control groups keeps limits and use.
struct Version {
    /// The type of its file system, in `/proc/self/mountinfo`.
    file_system: &'static str,
    /// The controllers that a line of `/proc/self/cgroup`, and the mount, must name.
    controller: &'static str,
    limits: &'static [&'static str],
    used: &'static str,
    /// Pages of files that the system takes back when it needs them count as used, but are free.
    reclaimable: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        file_system: "cgroup2",
        controller: "",
        limits: &["memory.max", "memory.high"],
        used: "memory.current",
        reclaimable: "inactive_file ",
    },
    Version {
        file_system: "cgroup",
        controller: "memory",
        limits: &["memory.limit_in_bytes"],
        used: "memory.usage_in_bytes",
        reclaimable: "total_inactive_file ",
    },
];

/// The limits of the group of this process and of those around it.
fn control_groups(look: Look<'_>) -> Vec<Ceiling> {
    let Some(own) = look(Path::new("/proc/self/cgroup")) else { return Vec::new() };
    let mounts = look(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    let mut all = Vec::new();
    for version in &VERSIONS {
        let Some(path) = own.lines().find_map(|line| group_path(line, version)) else { continue };
        let mount = mounts.lines().find_map(|line| mount(line, version));
        let (root, at) = mount.unwrap_or_else(|| ("/".into(), default_mount(version)));
        // In a container the path may be the host's, which cannot be seen: then what is mounted is the group
        // itself.
        let inside = Path::new(path).strip_prefix(&root).unwrap_or(Path::new(""));
        for group in inside.ancestors() {
            all.extend(group_ceiling(look, version, &at, group));
        }
    }
    all
}

fn default_mount(version: &Version) -> PathBuf {
    Path::new("/sys/fs/cgroup").join(version.controller)
}

/// The path of a line such as `0::/user.slice` or `4:memory:/user.slice`, if it is about this version.
fn group_path<'a>(line: &'a str, version: &Version) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    controllers.split(',').any(|name| name == version.controller).then_some(path)
}

/// Of a line of `mountinfo`: which group is mounted, and where, if it is about this version.
fn mount(line: &str, version: &Version) -> Option<(PathBuf, PathBuf)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, at) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (file_system, options) = (after.next()?, after.nth(1).unwrap_or_default());
    let named = version.controller.is_empty() || options.split(',').any(|name| name == version.controller);
    (file_system == version.file_system && named).then(|| (root.into(), at.into()))
}

/// What is free in one group, if it has a limit.
fn group_ceiling(look: Look<'_>, version: &Version, mounted: &Path, group: &Path) -> Option<Ceiling> {
    let folder = mounted.join(group);
    let number = |name: &str| look(&folder.join(name))?.trim().parse::<u64>().ok();
    let limit =
        version.limits.iter().filter_map(|name| number(name)).min().filter(|&limit| limit < NO_LIMIT)?;
    let stat = look(&folder.join("memory.stat")).unwrap_or_default();
    let reclaimable =
        stat.lines().find_map(|line| line.strip_prefix(version.reclaimable)?.trim().parse().ok());
    let used = number(version.used).unwrap_or(0).saturating_sub(reclaimable.unwrap_or(0));
    let group = Path::new("/").join(group).to_string_lossy().into_owned();
    Some(Ceiling { free: limit.saturating_sub(used), by: Source::ControlGroup { group, limit } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// What [`ceilings`] makes of these files.
    fn told(files: &[(&str, &str)]) -> Vec<Ceiling> {
        let files: BTreeMap<&Path, &str> =
            files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
        ceilings(&|path| files.get(path).map(|text| (*text).to_string()))
    }

    fn group(free: u64, group: &str, limit: u64) -> Ceiling {
        Ceiling { free, by: Source::ControlGroup { group: group.to_string(), limit } }
    }

    #[test]
    fn what_the_machine_has_free() {
        let told = |text| told(&[("/proc/meminfo", text)]);
        let text = "MemTotal:       16318420 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n";
        assert_eq!(told(text), [Ceiling { free: 8_192_000, by: Source::Machine }]);
        assert_eq!(told("MemTotal: 1 kB"), []);
        assert_eq!(told("MemAvailable: many kB"), []);
        assert_eq!(told("MemAvailable: 99999999999999999999 kB"), []);
    }

    #[test]
    fn limits_of_the_process() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             9000000              unlimited            bytes\n\
                      Max address space         358400000            358400000            bytes\n";
        let status = "Name:\tspinor\nVmPeak:\t   9000 kB\nVmSize:\t   1000 kB\nVmData:\t    500 kB\n";
        let files = [("/proc/self/limits", limits), ("/proc/self/status", status)];
        let expected = [
            Ceiling { free: 358_400_000 - 1_024_000, by: Source::AddressSpace(358_400_000) },
            Ceiling { free: 9_000_000 - 512_000, by: Source::Data(9_000_000) },
        ];
        assert_eq!(told(&files), expected);
        let unlimited = limits.replace("358400000", "unlimited").replace("9000000", "unlimited");
        assert_eq!(told(&[("/proc/self/limits", &unlimited), ("/proc/self/status", status)]), []);
        let full = status.replace("   1000", "9999999");
        let free = |told: Vec<Ceiling>| told[0].free;
        assert_eq!(free(told(&[("/proc/self/limits", limits), ("/proc/self/status", &full)])), 0);
    }

    const MOUNTS: &str = "22 1 0:5 / / rw - ext4 /dev/sda rw\n\
                          35 25 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn every_group_around_the_process_counts() {
        let files = [
            ("/proc/self/cgroup", "0::/user.slice/job.scope\n"),
            ("/proc/self/mountinfo", MOUNTS),
            ("/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n"),
            ("/sys/fs/cgroup/user.slice/job.scope/memory.current", "700\n"),
            ("/sys/fs/cgroup/user.slice/memory.max", "5000\n"),
            ("/sys/fs/cgroup/user.slice/memory.current", "4000\n"),
            ("/sys/fs/cgroup/user.slice/memory.stat", "anon 1000\ninactive_file 2500\nactive_file 7\n"),
        ];
        assert_eq!(told(&files), [group(5000 - 1500, "/user.slice", 5000)]);
    }

    #[test]
    fn the_limit_where_a_group_is_slowed_down_counts_too() {
        let files = [
            ("/proc/self/cgroup", "0::/job"),
            ("/sys/fs/cgroup/job/memory.max", "9000"),
            ("/sys/fs/cgroup/job/memory.high", "6000"),
            ("/sys/fs/cgroup/job/memory.current", "8000"),
            ("/sys/fs/cgroup/memory.max", "100000"),
        ];
        assert_eq!(told(&files), [group(0, "/job", 6000), group(100_000, "/", 100_000)]);
    }

    #[test]
    fn groups_of_the_first_version() {
        let mounts = "30 25 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu\n31 25 0:27 / /cg/mem rw - cgroup cgroup rw,memory\n";
        let files = [
            ("/proc/self/cgroup", "5:cpu,cpuacct:/fast\n4:memory:/a/b\n"),
            ("/proc/self/mountinfo", mounts),
            ("/cg/mem/a/b/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/cg/mem/a/memory.limit_in_bytes", "4096\n"),
            ("/cg/mem/a/memory.usage_in_bytes", "4000\n"),
            ("/cg/mem/a/memory.stat", "total_inactive_file 1000\n"),
            ("/cg/cpu/fast/memory.limit_in_bytes", "1\n"),
        ];
        assert_eq!(told(&files), [group(1096, "/a", 4096)]);
    }

    /// In a container the group is mounted as if it were the root, and its path may be the host's.
    #[test]
    fn a_group_that_is_mounted_itself() {
        let file = [("/sys/fs/cgroup/memory.max", "4000"), ("/sys/fs/cgroup/memory.current", "1000")];
        for (own, root) in [
            ("0::/", "/"),
            ("0::/docker/17", "/docker/17"),
            ("0::/docker/17", "/docker/18"),
            ("0::/../17", "/"),
        ] {
            let mounts = format!("35 25 0:30 {root} /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
            let told =
                told(&[("/proc/self/cgroup", own), ("/proc/self/mountinfo", &mounts), file[0], file[1]]);
            assert!(told.contains(&group(3000, "/", 4000)), "{own} {root}: {told:?}");
        }
    }

    #[test]
    fn files_that_say_nothing_are_no_limit() {
        let odd = ["", "\n", "0::", "x", "::::", "4:memory", "0::/a b/c\n"];
        for text in odd {
            let files =
                [("/proc/self/cgroup", text), ("/proc/self/mountinfo", text), ("/proc/self/limits", text)];
            assert_eq!(told(&files), [], "{text:?}");
        }
        assert_eq!(allowance_among(None, Vec::new()), Allowance { bytes: FALLBACK, by: Source::Nobody });
    }

    #[test]
    fn the_tightest_limit_holds() {
        let all = || {
            vec![
                Ceiling { free: 2000, by: Source::Machine },
                Ceiling { free: 1000, by: Source::AddressSpace(5000) },
                group(4000, "/a", 9000),
            ]
        };
        let of = |bytes, by| Allowance { bytes, by };
        assert_eq!(allowance_among(None, all()), of(700, Source::AddressSpace(5000)));
        assert_eq!(allowance_among(Some(900), all()), of(900, Source::Request));
        assert_eq!(allowance_among(Some(3000), all()), of(1000, Source::AddressSpace(5000)));
        // Who asks for more than is free may have reasons.
        let machine = || vec![Ceiling { free: 2000, by: Source::Machine }];
        assert_eq!(allowance_among(Some(3000), machine()), of(3000, Source::Request));
        assert_eq!(allowance_among(None, machine()), of(1400, Source::Machine));
        assert!(allowance(None).bytes > 0);
    }

    #[test]
    fn the_limit_that_holds_is_named() {
        let text = |by| Allowance { bytes: 7 << 20, by }.to_string();
        assert_eq!(text(Source::Request), "the limit is 7.0 MB, --max-memory");
        assert_eq!(text(Source::AddressSpace(350 << 20)), "the address-space limit, ulimit -v, is 350.0 MB");
        let group = Source::ControlGroup { group: "/user.slice".to_string(), limit: 2 << 30 };
        assert_eq!(text(group), "the limit of the control group /user.slice is 2.00 GB");
    }

    #[test]
    fn a_bit_array_leaves_room_for_the_rest() {
        let mb = |n: u64| n << 20;
        assert_eq!(bit_array(mb(20), mb(12)), mb(4));
        assert_eq!(bit_array(mb(1024 + 64), mb(0)), mb(32 + 768));
        assert_eq!(bit_array(mb(5), mb(12)), LEAST_ARRAY);
    }
}
