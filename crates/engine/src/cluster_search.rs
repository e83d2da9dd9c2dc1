//! A check of safety by several processes of this program on one machine (`--cluster N`).
//!
//! The check that was asked for is the first process: it starts the others with the same model and options, and
//! a hidden one that says which process they are. They read and compile the model themselves; when all agree
//! about version, program and options, each searches the states that it owns
//! ([`search::distributed`], over [`cluster`]). The first one decides the order of a lean search, puts together
//! what all found, follows counterexamples through all processes and has them replayed as ever.
//!
//! A process that is lost ends the search without a verdict: its states are lost, too.

mod wire;

use crate::VERSION;
use crate::client::Client;
use crate::command_line::check_words;
use crate::dispatch::Exploration;
use crate::failure::Failure;
use crate::options::{CheckOptions, Size};
use crate::plan::Plan;
use crate::property::Selected;
use crate::strategy;
use crate::symbolic_search::Explored;
use cluster::{Digest, Leader, Request, StartError};
use search::distributed::{Alone, Exchange, Part, PartFigures, PartResult, put_together, whole_way};
use search::{Limits, Outcome, StopReason, Task};
use std::cell::Cell;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use system::portable::{PortableError, StableHash};
use system::{LeanOrder, Sequence};

/// A process that is silent for so long is lost, unless something else is said.
const PEER_TIMEOUT: Duration = Duration::from_secs(30);

/// What each process did.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// In the order of their numbers.
    pub processes: Vec<PartFigures>,
}

impl Figures {
    /// How many states the largest part has for each one of an even share: 1 is even.
    pub fn imbalance(&self) -> f64 {
        let all: u64 = self.processes.iter().map(|part| part.states).sum();
        let most = self.processes.iter().map(|part| part.states).max().unwrap_or(0);
        if all == 0 { 1.0 } else { most as f64 * self.processes.len() as f64 / all as f64 }
    }

    /// How many states were sent for each that there is.
    pub fn messages_per_state(&self) -> f64 {
        let all: u64 = self.processes.iter().map(|part| part.states).sum();
        let sent: u64 = self.processes.iter().map(|part| part.sent).sum();
        sent as f64 / all.max(1) as f64
    }
}

/// Several processes search for errors of states and steps.
pub fn refuse_properties(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let other = selected.iter().find(|property| property.checks.is_none());
    match (plan.options.cluster, other) {
        (Some(n), Some(other)) => Err(Failure::refused_with(
            format!("--cluster {n} is for safety, and {} is not", other.name),
            "add --property safety, or leave --cluster out",
        )),
        _ => Ok(()),
    }
}

/// What has states that stay where they are.
fn stays(error: &PortableError) -> Failure {
    Failure::refused_with(
        format!("--cluster needs states that can leave their process: {error}"),
        "leave --cluster out",
    )
}

/// Searches as the process that this one is.
pub fn search_safety(
    exploration: &Exploration<'_>,
    property: &str,
    client: &mut dyn Client,
) -> Result<Explored, Failure> {
    let plan = exploration.plan;
    let portable = exploration.system.capabilities().portable;
    let program = portable.ok_or_else(|| stays(&PortableError::Unsupported))?.fingerprint();
    let options = shared_options(&plan.options, property);
    let words = check_words(&options);
    let hash = words.iter().fold(StableHash::new(0), |hash, word| hash.bytes(word.as_bytes()));
    let digest = Digest { version: VERSION.to_string(), program, options: hash.finish() };
    match (&plan.options.cluster_seat, plan.options.cluster) {
        (Some(seat), _) => follow(exploration, seat, digest, client),
        (None, None | Some(1)) => alone(exploration, client),
        (None, Some(size)) => lead(exploration, (size as usize, &options, digest), client),
    }
}

/// The options that all processes have: those of the check, without what is for the first one alone.
fn shared_options(options: &CheckOptions, property: &str) -> CheckOptions {
    CheckOptions {
        properties: vec![property.to_string()],
        trail: None,
        report: None,
        timeout: None,
        max_states: None,
        max_memory: None,
        peer_timeout: None,
        cluster_seat: None,
        ..options.clone()
    }
}

/// The search by one process.
fn alone(exploration: &Exploration<'_>, client: &mut dyn Client) -> Result<Explored, Failure> {
    let (started, task) = (Instant::now(), exploration.task);
    let order = match strategy::order_for_all(exploration, client) {
        Ok(order) => order,
        Err(over) => return Ok(Explored::found(*over)),
    };
    let task = in_time(&strategy::in_order(task, order), started);
    let searched = Exploration { task: &task, ..*exploration };
    let none = AtomicBool::new(false);
    let part = searched.part(client, (&mut Alone, &none)).map_err(|error| stays(&error))?;
    let way =
        |_, state| whole_way((0, state), &mut |_, state| Some(part.way_back(state))).unwrap_or_default();
    let results = vec![part.result.clone()];
    let mut outcome = put_together(exploration.system, &task, part.stop, results, &way);
    outcome = strategy::named(outcome, client);
    let figures = Figures { processes: vec![part.result.figures] };
    Ok(Explored { cluster: Some(Box::new(figures)), ..Explored::found(outcome) })
}

/// The task, with the time that is left.
fn in_time<'t>(task: &Task<'t>, started: Instant) -> Task<'t> {
    let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
    Task { limits: Limits { time, ..task.limits }, ..*task }
}

/// The bytes for the order of a lean search.
fn decided(order: Option<LeanOrder>) -> Vec<u8> {
    let at = LeanOrder::ALL.iter().position(|&other| Some(other) == order);
    vec![at.map_or(0, |at| at as u8 + 1)]
}

/// The order that the first process decided; `None` where these bytes say none.
fn order_decided(bytes: &[u8]) -> Option<Option<LeanOrder>> {
    match *bytes {
        [0] => Some(None),
        [at] => LeanOrder::ALL.get(usize::from(at) - 1).copied().map(Some),
        _ => None,
    }
}

/// Why there is no verdict.
fn unknown(why: String) -> Explored {
    let outcome = Outcome::nothing(StopReason::Completed);
    Explored { unfit: Some(why), ..Explored::found(outcome) }
}

/// The search as the first process.
fn lead(
    exploration: &Exploration<'_>,
    (size, options, digest): (usize, &CheckOptions, Digest),
    client: &mut dyn Client,
) -> Result<Explored, Failure> {
    let started = Instant::now();
    let program = client.own_program().ok_or_else(|| {
        Failure::refused_with("--cluster needs a client that can start processes", "use `spinor check`")
    })?;
    let order = match strategy::order_for_all(exploration, client) {
        Ok(order) => order,
        Err(over) => return Ok(Explored::found(*over)),
    };
    // Each process has its share of the memory.
    let mut plan = exploration.plan.clone();
    plan.limits.memory = plan.limits.memory.map(|bytes| bytes / size as u64);
    let command = |rank, port| {
        let options = CheckOptions {
            max_memory: plan.limits.memory.map(Size),
            cluster_seat: Some(format!("{rank}@{port}")),
            ..options.clone()
        };
        let mut command = Command::new(&program);
        command.args(check_words(&options)).arg("--quiet");
        command
    };
    let peer_timeout = plan.options.peer_timeout.unwrap_or(PEER_TIMEOUT);
    let stop = exploration.task.stop;
    let request = Request { size, command: &command, digest, decided: decided(order), peer_timeout, stop };
    let (leader, mut flow) = match cluster::lead(&request) {
        Ok(both) => both,
        Err(StartError::Stopped) => return Ok(Explored::found(Outcome::nothing(StopReason::Interrupted))),
        Err(StartError::Absent(why)) => return Ok(unknown(why)),
        Err(StartError::Disagreement(why)) => return Err(Failure::refused_with(why, "run it again")),
        Err(StartError::System(error)) => {
            return Ok(unknown(format!("the cluster cannot be started: {error}")));
        }
    };
    let task = in_time(&strategy::in_order(exploration.task, order), started);
    let task = Task { limits: Limits { memory: plan.limits.memory, ..task.limits }, ..task };
    let searched = Exploration { plan: &plan, task: &task, ..*exploration };
    let exchange = (&mut flow as &mut dyn Exchange, leader.halt());
    let part = searched.part(client, exchange).map_err(|error| stays(&error))?;
    if part.stop != StopReason::Completed {
        leader.stop_all(part.stop);
    }
    // What is on its way goes with the flow, so it stays until all have ended.
    let explored = gather(&searched, &leader, &part);
    drop(leader);
    drop(flow);
    Ok(Explored { outcome: strategy::named(explored.outcome, client), ..explored })
}

/// Puts together what all found.
fn gather(exploration: &Exploration<'_>, leader: &Leader, part: &Part) -> Explored {
    let lost = || {
        leader
            .lost()
            .map_or_else(|| "a process of the cluster was lost".to_string(), |lost| lost.what.clone())
    };
    let Some(others) = leader.results() else { return unknown(lost()) };
    let own = wire::Told { result: part.result.clone(), broken: part.broken.clone() };
    let mut all = vec![own];
    for (bytes, rank) in others.iter().zip(1..) {
        match wire::read(bytes) {
            Ok(told) => all.push(told),
            Err(damage) => {
                return unknown(format!(
                    "what process {rank} of the cluster found cannot be read: {damage:?}"
                ));
            }
        }
    }
    if let Some(why) = all.iter().find_map(|told| told.broken.clone()) {
        return unknown(why);
    }
    if leader.lost().is_some() {
        return unknown(lost());
    }
    let results: Vec<PartResult> = all.into_iter().map(|told| told.result).collect();
    let figures = Figures { processes: results.iter().map(|result| result.figures).collect() };
    let stop = leader.reason().unwrap_or(StopReason::Completed);
    let missing = Cell::new(false);
    let way = |rank, state| {
        let mut ask = |rank, state| match rank {
            0 => Some(part.way_back(state)),
            _ => wire::read_way(&leader.ask(rank, state)?),
        };
        whole_way((rank, state), &mut ask).unwrap_or_else(|| {
            missing.set(true);
            Sequence::new()
        })
    };
    let outcome = put_together(exploration.system, exploration.task, stop, results, &way);
    if missing.get() {
        let why = format!("the way to what was found could not be put together: {}", lost());
        return unknown(why);
    }
    Explored { cluster: Some(Box::new(figures)), ..Explored::found(outcome) }
}

/// The search as another process. What it finds is told to the first one; its own report says nothing.
fn follow(
    exploration: &Exploration<'_>,
    seat: &str,
    digest: Digest,
    client: &mut dyn Client,
) -> Result<Explored, Failure> {
    let place = seat.split_once('@').and_then(|(rank, port)| Some((rank.parse().ok()?, port.parse().ok()?)));
    let Some((rank, port)) = place else {
        return Err(Failure::refused_with(
            format!("--cluster-seat {seat} is no process of a cluster"),
            "leave it out: --cluster starts its processes itself",
        ));
    };
    let (member, mut flow) = match cluster::join(rank, port, digest) {
        Ok(both) => both,
        Err(StartError::Stopped) => return Ok(Explored::found(Outcome::nothing(StopReason::Interrupted))),
        Err(StartError::Absent(why) | StartError::Disagreement(why)) => return Err(Failure::refused(why)),
        Err(StartError::System(error)) => {
            return Err(Failure::refused(format!("the cluster cannot be joined: {error}")));
        }
    };
    let order = order_decided(&member.decided)
        .ok_or_else(|| Failure::Internal("the order of the search is not understood".to_string()))?;
    let task = strategy::in_order(exploration.task, order);
    let searched = Exploration { task: &task, ..*exploration };
    let exchange = (&mut flow as &mut dyn Exchange, member.halt());
    let part = searched.part(client, exchange).map_err(|error| stays(&error))?;
    let short = part.stop == StopReason::Interrupted && client.is_short_of_memory();
    let stop = if short { StopReason::MemoryLimit } else { part.stop };
    let told = wire::Told { result: part.result.clone(), broken: part.broken.clone() };
    member.serve(stop, wire::write(&told), &mut |state| wire::write_way(&part.way_back(state)));
    drop(flow);
    Ok(Explored::found(Outcome::nothing(StopReason::Interrupted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_told() {
        for order in LeanOrder::ALL.into_iter().map(Some).chain([None]) {
            assert_eq!(order_decided(&decided(order)), Some(order));
        }
        for bytes in [&[][..], &[99], &[0, 0]] {
            assert_eq!(order_decided(bytes), None);
        }
    }

    #[test]
    fn processes_are_compared() {
        let part = |states, sent| PartFigures { states, sent, ..PartFigures::default() };
        let figures = Figures { processes: vec![part(30, 10), part(10, 10)] };
        assert_eq!((figures.imbalance(), figures.messages_per_state()), (1.5, 0.5));
        assert_eq!(Figures { processes: vec![part(0, 0)] }.imbalance(), 1.0);
    }

    #[test]
    fn what_is_for_the_first_process_is_not_handed_on() {
        let words =
            "--cluster 3 --timeout 9 --max-states 7 --trail t --report r --peer-timeout 4 --edges all";
        let options = CheckOptions::of_words(words.split(' ')).unwrap();
        let shared = shared_options(&options, "assertion");
        assert_eq!(shared.to_words().join(" "), "--property assertion --edges all --cluster 3");
    }
}
