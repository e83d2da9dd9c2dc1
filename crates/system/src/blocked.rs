//! Why a process cannot move, in words and values: what each of its statements waits for, and who could
//! change that.
//!
//! Data only; a machine fills it in ([`Explain::blocked`](crate::Explain::blocked)), clients render it.
//! "Could" is meant literally: a process is named when its code from where it is on contains a statement that
//! may change what is waited for. That is an over-approximation, so a process that is *not* named cannot
//! help.

use crate::Value;

/// A place in a model with the statement that stands there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// File, 1-based line and column.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The statement as written.
    pub text: String,
}

/// A process by name and number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// The proctype's name.
    pub process: String,
    /// The number.
    pub pid: u32,
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]", self.process.trim_matches(':'), self.pid)
    }
}

/// A process that cannot move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Who.
    pub who: Who,
    /// Where it is: the first statement there.
    pub at: Site,
    /// It is where a process may stay forever (an `end` label, or the end of its body).
    pub valid_end: bool,
    /// It could move, but must not.
    pub held: Option<Held>,
    /// The statements that it could execute here, each with what it waits for; empty when the process is
    /// held.
    pub alternatives: Vec<Alternative>,
}

/// One statement that cannot be executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alternative {
    /// The statement.
    pub at: Site,
    /// It belongs to the escape of an `unless`.
    pub escape: bool,
    /// Why not.
    pub reason: Reason,
    /// What somebody would have to do, in words ("writes `turn`", "sends to `q`").
    pub needs: Vec<String>,
    /// Who could change it.
    pub helpers: Vec<Helper>,
}

/// Why a statement cannot be executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A condition does not hold; with everything that was read to find out.
    False {
        /// What was read, in the order of evaluation.
        reads: Vec<(String, Value)>,
    },
    /// A send to a channel that is full.
    Full {
        /// The channel.
        channel: String,
        /// Its messages.
        messages: Vec<String>,
    },
    /// A receive from a channel that is empty.
    Empty {
        /// The channel.
        channel: String,
    },
    /// A receive from a channel that ceased to exist with the process that created it.
    Gone,
    /// A receive that takes none of the messages it may look at.
    NoMatch {
        /// The channel.
        channel: String,
        /// The messages that were looked at: the first one, or all for `??`.
        messages: Vec<String>,
        /// What the receive takes (`_` is anything).
        pattern: String,
    },
    /// A rendezvous send that nobody receives.
    NoReceiver {
        /// The channel.
        channel: String,
        /// The message on offer.
        message: String,
        /// Receives on this channel that processes are at, but that do not take the message.
        refusals: Vec<(Who, Site)>,
    },
    /// A rendezvous receive without anybody who sends.
    NoSender {
        /// The channel.
        channel: String,
        /// What the receive takes.
        pattern: String,
        /// Sends on this channel that processes are at, but whose message is not taken.
        offers: Vec<(Who, Site)>,
    },
    /// A lock that a process holds.
    Locked {
        /// The lock.
        lock: String,
        /// Who holds it; `None` when the holder is gone.
        holder: Option<Who>,
    },
    /// A semaphore that is 0.
    Semaphore {
        /// The semaphore.
        name: String,
    },
    /// `timeout`, while somebody can move.
    Timeout,
    /// The process is at its end, and goes only when the younger ones are gone.
    Younger {
        /// The younger processes.
        processes: Vec<Who>,
    },
    /// None of the above, in words.
    Other(String),
}

/// Why a process must not move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// Its `provided` clause does not hold.
    Provided {
        /// The clause.
        at: Site,
        /// What was read.
        reads: Vec<(String, Value)>,
        /// What somebody would have to do.
        needs: Vec<String>,
        /// Who could change it.
        helpers: Vec<Helper>,
    },
    /// A process of higher priority can move.
    Priority {
        /// That process.
        by: Who,
        /// Its priority.
        theirs: u32,
        /// The priority of the process that is held.
        own: u32,
    },
    /// Another process is inside an atomic sequence.
    Control {
        /// That process.
        by: Who,
    },
}

/// A process that could change what somebody waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Helper {
    /// Who.
    pub who: Who,
    /// One statement that may do it.
    pub at: Site,
    /// The statement is in the body of this proctype, which `who` could start.
    pub through: Option<String>,
    /// Whether it can move itself.
    pub can_move: bool,
}

impl Blocked {
    /// Everybody who could help, whatever alternative.
    pub fn helpers(&self) -> impl Iterator<Item = &Helper> {
        let held = match &self.held {
            Some(Held::Provided { helpers, .. }) => &helpers[..],
            _ => &[],
        };
        held.iter().chain(self.alternatives.iter().flat_map(|alternative| &alternative.helpers))
    }
}

/// A cycle of processes each of which waits for the next, and the last for the first; given as indices into
/// `blocked`. Only a cycle that nobody who can move could break: following helpers from it never leads to a
/// process that is not blocked.
pub fn cycle(blocked: &[Blocked]) -> Option<Vec<usize>> {
    let at = |pid: u32| blocked.iter().position(|b| b.who.pid == pid);
    let next: Vec<Vec<usize>> = blocked
        .iter()
        .map(|b| {
            let mut to: Vec<usize> = b.helpers().filter_map(|helper| at(helper.who.pid)).collect();
            to.sort_unstable();
            to.dedup();
            to
        })
        .collect();
    let hopeless = hopeless(blocked, &next);
    let starts = (0..blocked.len()).filter(|&i| hopeless[i] && !blocked[i].valid_end);
    starts.filter_map(|start| shortest_way_back(start, &next, &hopeless)).min_by_key(Vec::len)
}

/// From which processes helpers never lead to somebody who can move.
fn hopeless(blocked: &[Blocked], next: &[Vec<usize>]) -> Vec<bool> {
    let waits = |b: &Blocked| !matches!(b.held, Some(Held::Priority { .. } | Held::Control { .. }));
    let free = |b: &Blocked| !waits(b) || b.helpers().any(|helper| helper.can_move);
    let mut hopeless: Vec<bool> = blocked.iter().map(|b| !free(b)).collect();
    loop {
        let changed = (0..blocked.len()).find(|&i| hopeless[i] && next[i].iter().any(|&j| !hopeless[j]));
        match changed {
            Some(i) => hopeless[i] = false,
            None => return hopeless,
        }
    }
}

fn shortest_way_back(start: usize, next: &[Vec<usize>], allowed: &[bool]) -> Option<Vec<usize>> {
    let mut from = vec![None; next.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(i) = queue.pop_front() {
        for &j in next[i].iter().filter(|&&j| allowed[j]) {
            if j == start {
                let mut way = vec![i];
                while let Some(before) = from[way[way.len() - 1]] {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            if from[j].is_none() {
                from[j] = Some(i);
                queue.push_back(j);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, waits_for: &[(u32, bool)]) -> Blocked {
        let who = |pid| Who { process: "p".to_string(), pid };
        let helper =
            |&(pid, can_move)| Helper { who: who(pid), at: Site::default(), through: None, can_move };
        let alternative = Alternative {
            at: Site::default(),
            escape: false,
            reason: Reason::Gone,
            needs: Vec::new(),
            helpers: waits_for.iter().map(helper).collect(),
        };
        let alternatives = vec![alternative];
        Blocked { who: who(pid), at: Site::default(), valid_end: false, held: None, alternatives }
    }

    fn pids(blocked: &[Blocked]) -> Option<Vec<u32>> {
        cycle(blocked).map(|way| way.into_iter().map(|i| blocked[i].who.pid).collect())
    }

    #[test]
    fn the_shortest_cycle_is_found() {
        let ring = [process(1, &[(2, false)]), process(2, &[(3, false)]), process(3, &[(1, false)])];
        assert_eq!(pids(&ring), Some(vec![1, 2, 3]));
        let shortcut =
            [process(1, &[(2, false)]), process(2, &[(3, false)]), process(3, &[(1, false), (2, false)])];
        assert_eq!(pids(&shortcut), Some(vec![2, 3]));
    }

    #[test]
    fn a_cycle_that_somebody_can_break_is_none() {
        let helped = [process(1, &[(2, false)]), process(2, &[(1, false), (7, true)])];
        assert_eq!(pids(&helped), None);
        let chain = [process(1, &[(2, false)]), process(2, &[])];
        assert_eq!(pids(&chain), None);
        assert_eq!(pids(&[]), None);
    }
}
