//! A violation of sequential consistency in words: the cycle that the observer closed, found in the rows.

use crate::program::Roles;
use crate::rules::Op;
use crate::table::{Row, Table, What};
use crate::words;

/// A processor's part in a cycle: two rows of its own.
struct Part {
    /// The use of its own address at the mark: the row, and whether it reads.
    mark: (usize, bool),
    /// The use of the next address: the row, and whether it writes the mark there.
    next: (usize, bool),
}

/// The cycle.
pub fn cycle(table: &Table, roles: &Roles, k: usize) -> String {
    if let Some((cpu, address, first, second)) = backwards(table, roles, k) {
        let (cpu, address) = (words::cpu(cpu), words::address(address));
        return format!(
            "{cpu} goes backwards on {address}: its value in row {second} comes before that in row {first}"
        );
    }
    let parts: Vec<Vec<Part>> = (0..k).map(|p| parts(table, roles, p, k)).collect();
    let mut chosen = vec![0; k];
    loop {
        let picked: Option<Vec<&Part>> = (0..k).map(|p| parts[p].get(chosen[p])).collect();
        if let Some(picked) = picked.filter(|picked| closes(picked)) {
            let told = picked.iter().enumerate().map(|(p, part)| {
                let [own, next] = [p, (p + 1) % k].map(|a| words::address(roles.addresses[a]));
                let cpu = words::cpu(roles.cpus[p]);
                format!("{cpu} used {own} ({}) before {next} ({})", part.mark.0, part.next.0)
            });
            let told = told.collect::<Vec<_>>().join(", ");
            return format!(
                "{told}: no order of all operations fits, with the writes in the order in which they took place"
            );
        }
        let Some(at) = (0..k).find(|&p| chosen[p] + 1 < parts[p].len()) else { break };
        chosen[..at].fill(0);
        chosen[at] += 1;
    }
    "no order of all operations fits, with the writes in the order in which they took place".to_string()
}

/// Behind the write of a mark come the reads of it, not that write itself.
fn closes(parts: &[&Part]) -> bool {
    (0..parts.len()).all(|p| !parts[p].next.1 || parts[(p + 1) % parts.len()].mark.1)
}

/// The operations of a processor on an address: row, whether it reads, value.
fn uses(table: &Table, cpu: usize, address: usize) -> Vec<(usize, bool, u8)> {
    let of = |(number, row): (usize, &Row)| match row.what {
        What::Did(c, Op::Write(a, v), _) if (c, a) == (cpu, address) => Some((number + 1, false, v)),
        What::Did(c, Op::Read(a), Some(v)) if (c, a) == (cpu, address) => Some((number + 1, true, v)),
        _ => None,
    };
    table.rows.iter().enumerate().filter_map(of).collect()
}

fn parts(table: &Table, roles: &Roles, p: usize, k: usize) -> Vec<Part> {
    let (cpu, own, next) = (roles.cpus[p], roles.addresses[p], roles.addresses[(p + 1) % k]);
    let mut out = Vec::new();
    for &(row, reads, _) in uses(table, cpu, own).iter().filter(|one| one.2 == 1) {
        for &(later, read, value) in uses(table, cpu, next).iter().filter(|one| one.0 > row) {
            if value == 0 || value == 1 && !read {
                out.push(Part { mark: (row, reads), next: (later, value == 1) });
            }
        }
    }
    out
}

/// A processor that used the mark of its own address and later what comes before it.
fn backwards(table: &Table, roles: &Roles, k: usize) -> Option<(usize, usize, usize, usize)> {
    (0..k).find_map(|p| {
        let (cpu, own) = (roles.cpus[p], roles.addresses[p]);
        let uses = uses(table, cpu, own);
        uses.iter().filter(|one| one.2 == 1).find_map(|mark| {
            let earlier =
                |one: &&(usize, bool, u8)| one.0 > mark.0 && (one.2 == 0 || mark.1 && !one.1 && one.2 == 1);
            uses.iter().find(earlier).map(|one| (cpu, own, mark.0, one.0))
        })
    })
}
