//! A trail of Spin, followed through the automata of the model that it belongs to.
//!
//! Every line must be a step that is possible where it stands: its process must be at a location that has a
//! statement with this number, and the statement must be executable. Where statements were merged, only the
//! first has a line; the others are found by Spin's rules for what may be merged: a single statement that
//! cannot block, and touches nothing that other processes know unless it is inside an atomic sequence. How
//! far a process went on is seen from its next line.

use super::lines::{self, Lines, Step};
use super::write::statement;
use crate::failure::Failure;
use crate::replay::finding;
use crate::session::Session;
use machine::Interp;
use promela::ir::{Action, Base, Edge, ExprKind, Proctype, ProctypeKind, Program, visit};
use std::collections::{HashMap, HashSet};
use system::{ActionId, Explain, Fault, FaultKind, Move, NOBODY, Sequence};
use trace::{Trail, TrailStep, Walker, story};

/// A trail that shows in our words what a trail of Spin shows of a model.
pub fn followed(session: &Session, path: &str, text: &str) -> Result<Trail, Failure> {
    let refused = |why: String, repair: &str| Failure::refused_with(format!("{path}: {why}"), repair);
    let lines = lines::read(text).map_err(|why| refused(why, "give the file that pan wrote"))?;
    let machine = session.judge()?;
    let walker = Walker::start(&machine).map_err(|fault| {
        refused(format!("the initial state cannot be built: {}", fault.message), "check the model")
    })?;
    let program = session.program()?;
    let mut follower =
        Follower { machine: &machine, program, walker, steps: Sequence::new(), merged: lines.merged };
    let cycle = follower.follow(&lines).map_err(|why| {
        let repair = "give the model, and the -D with which Spin's verifier of it was made; \
                      spin -o3 makes trails that have a line for each statement";
        refused(format!("it does not fit {}: {why}", session.source.path), repair)
    })?;
    let steps = follower.steps;
    let stands_for = |property: String, channels_empty| Trail {
        version: "spin".to_string(),
        model: session.source.path.clone(),
        model_absolute: None,
        fingerprint: session.fingerprint(),
        options: session.source.options.clone(),
        property,
        channels_empty,
        fair: None,
        cycle,
        violation: nothing(),
        steps: steps.clone(),
    };
    let asked = questions(session, &lines)?;
    for (property, channels_empty) in asked {
        let trail = stands_for(property, channels_empty);
        if let Ok(violation) = finding(session, &trail) {
            return Ok(Trail { violation, ..trail });
        }
    }
    let what = "every step is possible, but the run shows nothing that is wrong here";
    Err(refused(what.to_string(), "docs/differences-from-spin.md tells what only one of both calls an error"))
}

/// The place of a violation that is not yet known.
fn nothing() -> Fault {
    Fault {
        kind: FaultKind::EndState,
        message: String::new(),
        file: String::new(),
        line: 0,
        column: 0,
        process: None,
        pid: None,
    }
}

/// What may be wrong with a run, the likeliest first, and whether channels must be empty at its end.
fn questions(session: &Session, lines: &Lines) -> Result<Vec<(String, bool)>, Failure> {
    let stated = session.inventory()?;
    let ltl = stated.ltl.iter().map(|name| format!("ltl:{name}"));
    let claims: Vec<String> = ltl.chain(stated.never.iter().map(|name| format!("never:{name}"))).collect();
    let claims = match lines.claim {
        Some(number) => claim_of_number(session.program()?, number).map_or(claims, |claim| vec![claim]),
        None => claims,
    };
    let safety = [("safety".to_string(), false), ("safety".to_string(), true)];
    let plain = |names: Vec<String>| names.into_iter().map(|name| (name, false));
    let labels = ["accept", "progress"].map(str::to_string).to_vec();
    Ok(match (lines.cycle, lines.claim) {
        (Some(_), Some(_)) => plain(claims).collect(),
        (Some(_), None) => plain(labels).chain(plain(claims)).collect(),
        // A claim hides end states.
        (None, Some(_)) => {
            let parts = ["assertion", "invariant", "trace", "runtime"].map(str::to_string).to_vec();
            plain(parts).chain(plain(claims)).chain(safety).collect()
        }
        (None, None) => safety.into_iter().chain(plain(claims)).collect(),
    })
}

/// The property that Spin calls by this number: proctypes and claims have theirs in the order of the text,
/// formulas come behind them, and then the claim that looks for cycles without progress.
fn claim_of_number(program: &Program, number: u32) -> Option<String> {
    let number = number as usize;
    let behind = number.checked_sub(program.proctypes.len());
    match (program.proctypes.get(number), behind) {
        (Some(claim), _) => (claim.kind == ProctypeKind::Never).then(|| format!("never:{}", claim.name)),
        (None, Some(formula)) if formula < program.ltl.len() => {
            Some(format!("ltl:{}", program.ltl[formula].name))
        }
        (None, Some(last)) => (last == program.ltl.len()).then(|| "progress".to_string()),
        (None, None) => None,
    }
}

/// Where a run stands that follows a trail.
struct Follower<'a> {
    machine: &'a Interp,
    program: &'a Program,
    walker: Walker<'a>,
    steps: Sequence<TrailStep>,
    merged: bool,
}

impl Follower<'_> {
    /// Takes all steps; the answer is how many of them come before the cycle.
    fn follow(&mut self, lines: &Lines) -> Result<Option<usize>, String> {
        let next = next_of_each(&lines.steps, lines.cycle);
        let (mut at, mut cycle) = (0, None);
        while at < lines.steps.len() {
            if lines.cycle == Some(at) {
                cycle = Some(self.steps.len());
            }
            let step = lines.steps[at];
            let Some((action, moves)) = self.find(step, lines.steps.get(at + 1)) else {
                if !self.merged || !self.is_behind(step) {
                    return Err(self.why(step));
                }
                at += 1;
                continue;
            };
            self.take(action)?;
            let made = at..at + moves;
            if self.merged {
                for (step, &next) in lines.steps[made.clone()].iter().zip(&next[made]) {
                    self.finish(step.pid, next)?;
                }
            }
            at += moves;
        }
        if lines.cycle == Some(at) {
            cycle = Some(self.steps.len());
        }
        Ok(cycle)
    }

    fn take(&mut self, action: ActionId) -> Result<(), String> {
        let info = self.machine.step(self.walker.state(), action);
        self.walker.step(action).map_err(|why| format!("`{}`: {why}", info.text))?;
        self.steps.push(TrailStep { action, info: Some(info) });
        Ok(())
    }

    /// What the processes can do, with the edges that they take.
    fn possible(&mut self) -> Vec<(ActionId, Vec<Move>)> {
        let actions = self.walker.enabled().to_vec();
        let state = self.walker.state();
        actions.into_iter().map(|action| (action, self.machine.edges_taken(state, action))).collect()
    }

    /// The action that a line stands for; together with the next line, if it is a rendezvous.
    fn find(&mut self, step: Step, next: Option<&Step>) -> Option<(ActionId, usize)> {
        let program = self.program;
        let is = |made: &Move, step: &Step| {
            made.pid == step.pid && statement(program, made) == Some(step.statement)
        };
        self.possible().into_iter().find_map(|(action, moves)| match &moves[..] {
            [one] => is(one, &step).then_some((action, 1)),
            [sender, receiver] => {
                (is(sender, &step) && next.is_some_and(|next| is(receiver, next))).then_some((action, 2))
            }
            _ => None,
        })
    }

    /// Whether a line is a jump that Spin keeps where it merges statements, and that the process has already
    /// behind it: there are jumps that have no step of their own without merging.
    fn is_behind(&self, step: Step) -> bool {
        self.location(step.pid).is_some_and(|at| self.jumps_to(step.statement, at))
    }

    /// Whether a statement does nothing but go to this location.
    fn jumps_to(&self, statement: u32, at: u32) -> bool {
        let mut edges = self.program.proctypes.iter().flat_map(|proctype| &proctype.edges);
        let jump = edges.find(|edge| edge.statement == Some(statement));
        jump.is_some_and(|edge| matches!(edge.action, Action::Skip) && edge.to.0 == at)
    }

    /// Where a process is.
    fn location(&self, pid: u32) -> Option<u32> {
        let processes = self.machine.snapshot(self.walker.state()).processes;
        processes.iter().find(|process| process.pid == pid).map(|process| process.location)
    }

    /// Executes what Spin merged with the last statement of a process, whose next line is `next`.
    fn finish(&mut self, pid: u32, next: Option<u32>) -> Result<(), String> {
        let mut seen = HashSet::new();
        loop {
            let own = |(_, moves): &(ActionId, Vec<Move>)| moves.iter().any(|made| made.pid == pid);
            let possible: Vec<(ActionId, Vec<Move>)> = self.possible().into_iter().filter(own).collect();
            let [(action, moves)] = &possible[..] else { return Ok(()) };
            let [made] = &moves[..] else { return Ok(()) };
            let known = next.is_some_and(|next| {
                statement(self.program, made) == Some(next) || self.jumps_to(next, made.from)
            });
            if known || !self.is_merged(made) || !seen.insert(made.from) {
                return Ok(());
            }
            self.take(*action)?;
        }
    }

    /// Whether Spin may merge a statement with the one before.
    fn is_merged(&self, made: &Move) -> bool {
        let Some((proctype, edge)) = edge_of(self.program, made) else { return false };
        // A label is a place to be at.
        let labelled = proctype.labels.iter().any(|(_, at)| at.0 == made.from);
        let alone = proctype.locations.get(made.from as usize).is_some_and(|from| from.edges.len() == 1);
        let private = edge.atomic || self.walker.is_transient() || !touches_others(&edge.action);
        alone && !labelled && edge.escape.is_none() && cannot_block(&edge.action) && private
    }

    /// Why a line is not possible.
    fn why(&mut self, step: Step) -> String {
        let edges = self
            .program
            .proctypes
            .iter()
            .flat_map(|proctype| proctype.edges.iter().map(move |edge| (&proctype.name, edge)));
        let mut meant = edges.filter(|(_, edge)| edge.statement == Some(step.statement));
        let meant = match meant.next() {
            Some((proctype, edge)) => {
                format!("`{}` of {}", story::shortened(&edge.text, 60), story::process_name(proctype, NO_PID))
            }
            None => "none of the model".to_string(),
        };
        let state = self.walker.state().to_vec();
        let mut instead = Vec::new();
        for (action, moves) in self.possible() {
            if moves.first().is_some_and(|made| made.pid == step.pid) {
                let info = self.machine.step(&state, action);
                let text = story::shortened(&info.text, 60);
                instead.push(format!("`{text}` at {}:{}", info.file, info.line));
            }
        }
        let process = self.machine.snapshot(&state).processes.into_iter().find(|p| p.pid == step.pid);
        let process = process.map(|process| story::process_name(&process.name, process.pid));
        let can = match (process, instead.is_empty()) {
            (None, _) => format!("there is no process {}", step.pid),
            (Some(name), true) => format!("{name} cannot move"),
            (Some(name), false) => format!("{name} can only do {}", instead.join(" or ")),
        };
        let Step { pid, statement, line } = step;
        format!("line {line} lets process {pid} execute statement {statement}, {meant}, but {can}")
    }
}

/// A proctype without a process.
const NO_PID: u32 = NOBODY;

/// For each step, the statement of the next one of the same process; behind the end comes the cycle again.
fn next_of_each(steps: &[Step], cycle: Option<usize>) -> Vec<Option<u32>> {
    let again = cycle.and_then(|cycle| steps.get(cycle..)).unwrap_or_default();
    let mut later: HashMap<u32, u32> = again.iter().rev().map(|step| (step.pid, step.statement)).collect();
    let mut next: Vec<Option<u32>> =
        steps.iter().rev().map(|step| later.insert(step.pid, step.statement)).collect();
    next.reverse();
    next
}

fn edge_of<'a>(program: &'a Program, made: &Move) -> Option<(&'a Proctype, &'a Edge)> {
    let proctype = program.proctypes.iter().find(|proctype| proctype.name == made.proctype)?;
    Some((proctype, proctype.edges.get(made.edge as usize)?))
}

/// The statements that Spin takes as parts of a merged one.
fn cannot_block(action: &Action) -> bool {
    use Action as A;
    matches!(action, A::Skip | A::Assign(..) | A::Printf(..) | A::Printm(..) | A::Assert(_))
}

/// Whether an action reads or writes anything but constants and the own variables of the process.
fn touches_others(action: &Action) -> bool {
    use ExprKind as K;
    let mut touches = matches!(action, Action::Assign(place, _) if place.base == Base::Global);
    visit::walk_action(action, &mut |e| {
        touches |= match &e.kind {
            K::Load(place) => place.base == Base::Global,
            K::Const(_) | K::Unary(..) | K::Binary(..) | K::Cond(..) | K::Pid => false,
            _ => true,
        };
    });
    touches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_line_of_a_process() {
        let step = |pid, statement| Step { pid, statement, line: 0 };
        let steps = [step(0, 1), step(1, 7), step(0, 2), step(0, 3), step(1, 8)];
        assert_eq!(next_of_each(&steps, None), [Some(2), Some(8), Some(3), None, None]);
        assert_eq!(next_of_each(&steps, Some(2))[3..], [Some(2), Some(8)]);
    }
}
