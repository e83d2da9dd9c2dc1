//! d_step: the automaton inside, in the shape that Spin's generated code gives it.
//!
//! Spin writes a d_step as straight code with jumps, and its quirks can be observed. An option that begins
//! with a block (or with an inline) is not tried but entered; an inner selection none of whose options is
//! executable is an error, not a reason to try the next option of the outer one; and whether the d_step can
//! start is asked of fewer statements than it can begin with. So this file first writes the same code, then
//! reads the automaton off it.

use super::*;
use std::collections::HashSet;

/// How deep statements may nest inside a d_step; Spin's own code breaks at 64 selections.
const MAX_DEPTH: usize = 500;

/// An option: the selection and its number in it.
type OptionId = (ElementId, usize);

/// A piece of the code of a d_step.
#[derive(Clone, Copy)]
enum Code {
    /// The place of an element, or the place behind an option.
    Label,
    /// A jump to the place of an element; to one that has none, it is the end of the d_step.
    Jump(ElementId),
    /// A statement; one that is not executable leads behind the option, if there is one, or is an error.
    Step(ElementId, Option<OptionId>),
    /// No option was executable.
    Blocked,
}

/// Where execution gets to without executing anything.
enum Reached {
    /// The statement at this position.
    Step(usize),
    /// The end of the d_step.
    Exit,
    /// An error.
    Blocked,
}

/// The code of one d_step in the making.
#[derive(Default)]
struct Writer {
    code: Vec<Code>,
    places: HashMap<ElementId, usize>,
    behind: HashMap<OptionId, usize>,
    written: HashSet<ElementId>,
    jumps: Vec<ElementId>,
    options: Vec<OptionId>,
    /// What was written last is a jump, and the first one to its target.
    jumped: bool,
}

impl Writer {
    fn jump(&mut self, to: ElementId) {
        self.code.push(Code::Jump(to));
        if !self.places.contains_key(&to) && !self.jumps.contains(&to) {
            self.jumps.push(to);
            self.jumped = true;
        }
    }

    /// Follows labels and jumps from position `at`.
    fn reach(&self, at: usize) -> Option<Reached> {
        let mut at = at;
        for _ in 0..=self.code.len() {
            match self.code.get(at) {
                None => return Some(Reached::Exit),
                Some(Code::Label) => at += 1,
                Some(Code::Jump(to)) => match self.places.get(to) {
                    Some(place) => at = *place,
                    None => return Some(Reached::Exit),
                },
                Some(Code::Step(..)) => return Some(Reached::Step(at)),
                Some(Code::Blocked) => return Some(Reached::Blocked),
            }
        }
        None
    }
}

impl Builder<'_> {
    /// Builds the inside of the d_step with this body, which is followed by the element `next` and leads to
    /// `exit`. Gives the entry, and the location that lists what decides whether the d_step can start.
    pub(super) fn put_inside(
        &mut self,
        body: SequenceId,
        next: Option<ElementId>,
        exit: LocId,
    ) -> Result<(LocId, Option<LocId>)> {
        let guards = self.guards(body, 0)?;
        let Sequence { first: Some(first), extent, .. } = *self.flow.sequence(body) else {
            return Ok((exit, None));
        };
        let is_choice = guards.is_some();
        let mut writer = Writer::default();
        self.write(&mut writer, first, extent, next, is_choice)?;
        self.check_exits(&writer, body, next)?;
        let edges = self.put_steps(&writer, exit)?;
        let entry = match writer.reach(0) {
            Some(Reached::Step(at)) => self.step_location(&writer, at),
            Some(Reached::Exit) => {
                let skip = self.new_edge(first, Action::Skip, exit);
                self.new_inner(vec![skip])
            }
            Some(Reached::Blocked) => self.new_inner(Vec::new()),
            None => return Err(self.endless(first)),
        };
        let asked = guards.map(|guards| {
            let listed = guards.iter().filter_map(|g| edges.get(g).copied()).collect();
            self.new_inner(listed)
        });
        Ok((entry, asked))
    }

    fn endless(&self, id: ElementId) -> Box<Diagnostic> {
        error(self.element(id).node.span, "a cycle of jumps without any statement")
    }

    fn new_inner(&mut self, edges: Vec<EdgeId>) -> LocId {
        self.steps.push(Step::Inner(edges));
        self.in_d_step.push(true);
        LocId(self.steps.len() as u32 - 1)
    }

    fn step_location(&self, writer: &Writer, at: usize) -> LocId {
        match writer.code[at] {
            Code::Step(id, _) => self.number(id),
            _ => LocId(0),
        }
    }

    /// The statements that decide whether a d_step can start: `None` means the first one. No statement at all
    /// means that it always can.
    fn guards(&self, body: SequenceId, depth: usize) -> Result<Option<Vec<ElementId>>> {
        let Some(first) = self.flow.sequence(body).first else { return Ok(None) };
        let element = self.element(first);
        let mut guards = Vec::new();
        match &element.node.kind {
            NodeKind::Unless(..) => {
                let message = "`unless` cannot be the first statement of a d_step";
                return Err(Box::new(
                    Diagnostic::new(crate::diagnostic::Code::E0305, element.node.span, message)
                        .help("use `atomic` instead"),
                ));
            }
            NodeKind::Basic(_) | NodeKind::Else => return Ok(None),
            NodeKind::Block(s) | NodeKind::Atomic(s) | NodeKind::DStep(s) if depth < MAX_DEPTH => {
                return self.guards(*s, depth + 1);
            }
            NodeKind::If(_) => self.collect_guards(first, &mut guards, depth)?,
            NodeKind::Join => {
                let selection =
                    element.next.filter(|&n| matches!(self.element(n).node.kind, NodeKind::Do(..)));
                if let Some(selection) = selection {
                    self.collect_guards(selection, &mut guards, depth)?;
                }
            }
            _ => {}
        }
        Ok(Some(guards))
    }

    /// The options of a selection count if they begin with a condition, a send, a receive or `else`, or with
    /// another `if`; a `do` does not.
    fn collect_guards(&self, id: ElementId, guards: &mut Vec<ElementId>, depth: usize) -> Result<()> {
        for &option in &self.element(id).sub {
            let Some(first) = self.flow.sequence(option).first else { continue };
            let start = self.hunt_start(first)?;
            match &self.element(start).node.kind {
                NodeKind::Block(s) | NodeKind::Atomic(s) | NodeKind::DStep(s) if depth < MAX_DEPTH => {
                    if let Some(inner) = self.flow.sequence(*s).first {
                        self.collect_guards(inner, guards, depth + 1)?;
                    }
                }
                NodeKind::If(_) if depth < MAX_DEPTH => self.collect_guards(start, guards, depth + 1)?,
                NodeKind::Else => guards.push(start),
                NodeKind::Basic(action) if is_condition(action) => guards.push(start),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the elements from `first` to `last`, after which comes `next`; in an option, the first
    /// statement (`guard`) leads to the next option when it is not executable.
    fn write(
        &self,
        writer: &mut Writer,
        first: ElementId,
        last: Option<ElementId>,
        next: Option<ElementId>,
        guard: bool,
    ) -> Result<()> {
        let mut guard = guard;
        let mut at = Some(first);
        while let Some(id) = at {
            let element = self.element(id);
            at = element.next;
            if !writer.written.insert(id) {
                continue;
            }
            if element.status & IN_D_STEP == 0 {
                if !writer.jumped {
                    writer.jump(id);
                }
                return Ok(());
            }
            writer.places.insert(id, writer.code.len());
            writer.code.push(Code::Label);
            writer.jumped = false;
            if element.sub.is_empty() {
                self.write_element(writer, id, next, &mut guard)?;
                if let Some(following) = element.next
                    && writer.written.contains(&following)
                    && !writer.jumped
                {
                    writer.jump(following);
                    return Ok(());
                }
            } else {
                self.write_options(writer, id)?;
            }
            if Some(id) == last {
                if let (false, Some(next)) = (writer.jumped, next) {
                    writer.jump(next);
                }
                return Ok(());
            }
        }
        Ok(())
    }

    fn write_element(
        &self,
        writer: &mut Writer,
        id: ElementId,
        next: Option<ElementId>,
        guard: &mut bool,
    ) -> Result<()> {
        let element = self.element(id);
        match &element.node.kind {
            NodeKind::Block(s) | NodeKind::Atomic(s) | NodeKind::DStep(s) => {
                if let Sequence { first: Some(first), extent, .. } = *self.flow.sequence(*s) {
                    self.write(writer, first, extent, element.next, false)?;
                }
            }
            NodeKind::Break => match (element.next, next) {
                (Some(following), _) => {
                    let target = self.hunt(following, element.status)?;
                    let target = self.final_target(target)?;
                    writer.jump(target);
                }
                (None, Some(next)) => writer.jump(next),
                (None, None) => {}
            },
            NodeKind::Goto(_) => {
                // Whether it may leave is found out at the end, and not for jumps inside blocks before.
                let target = self.jump_target(id)?;
                writer.jump(self.hunt(target, element.status)?);
            }
            NodeKind::Join => {
                if let Some(following) = element.next.filter(|n| writer.written.contains(n)) {
                    writer.jump(following);
                }
            }
            _ => {
                let otherwise = if *guard { writer.options.last().copied() } else { None };
                writer.code.push(Code::Step(id, otherwise));
                writer.jumped = false;
                *guard = false;
            }
        }
        Ok(())
    }

    /// The options of a selection one after the other; main part and escape of an `unless` likewise.
    fn write_options(&self, writer: &mut Writer, id: ElementId) -> Result<()> {
        let element = self.element(id);
        if writer.options.len() >= MAX_DEPTH {
            return Err(error(element.node.span, "the selections inside this d_step are nested too deeply"));
        }
        let next = if matches!(element.node.kind, NodeKind::Do(..)) { Some(id) } else { element.next };
        for (i, &option) in element.sub.iter().enumerate() {
            writer.options.push((id, i));
            if let Sequence { first: Some(first), extent, .. } = *self.flow.sequence(option) {
                self.write(writer, first, extent, next, true)?;
            }
            writer.options.pop();
            writer.behind.insert((id, i), writer.code.len());
            writer.code.push(Code::Label);
            writer.jumped = false;
        }
        writer.code.push(Code::Blocked);
        Ok(())
    }

    /// Where a chain of jumps that begins with `id` ends.
    fn final_target(&self, id: ElementId) -> Result<ElementId> {
        let mut at = id;
        for _ in 0..32 {
            let element = self.element(at);
            at = match (&element.node.kind, element.next) {
                (NodeKind::Goto(_), _) => {
                    let target = self.jump_target(at)?;
                    self.check_d_step(at, target)?;
                    target
                }
                (NodeKind::Break, Some(next)) => self.hunt(next, element.status)?,
                _ => return Ok(at),
            };
        }
        Err(self.endless(id))
    }

    /// Jumps may leave the d_step for the element behind it only, or for the one behind an earlier d_step.
    fn check_exits(&mut self, writer: &Writer, body: SequenceId, next: Option<ElementId>) -> Result<()> {
        let Some(next) = next else { return Ok(()) };
        self.exits.insert(next);
        let last = self.flow.sequence(body).last.map(|l| self.element(l));
        let after_loop = match last {
            Some(last) if matches!(last.node.kind, NodeKind::Break) => match last.next {
                Some(following) => Some(self.final_target(self.hunt(following, last.status)?)?),
                None => None,
            },
            _ => None,
        };
        for to in &writer.jumps {
            if !writer.places.contains_key(to) && !self.exits.contains(to) && Some(*to) != after_loop {
                let span = self.flow.sequence(body).first.map_or(Span::NONE, |f| self.element(f).node.span);
                return Err(Box::new(
                    Diagnostic::new(
                        crate::diagnostic::Code::E0303,
                        span,
                        "this d_step sequence is left in a way that is not possible",
                    )
                    .label(self.element(*to).node.span, "this is what comes next")
                    .help("put no blocks or uses of inlines at the end of a d_step, or a `skip` behind it"),
                ));
            }
        }
        Ok(())
    }

    /// Makes an edge and a location of every statement.
    fn put_steps(&mut self, writer: &Writer, exit: LocId) -> Result<HashMap<ElementId, EdgeId>> {
        let mut edges = HashMap::new();
        let mut blocked = None;
        for (at, code) in writer.code.iter().enumerate() {
            let Code::Step(id, _) = *code else { continue };
            let action = self.inner_action(id, &self.element(id).node.kind)?;
            let to = match writer.reach(at + 1) {
                Some(Reached::Step(to)) => self.step_location(writer, to),
                Some(Reached::Exit) => exit,
                Some(Reached::Blocked) => *blocked.get_or_insert_with(|| self.new_inner(Vec::new())),
                None => return Err(self.endless(id)),
            };
            let edge = self.new_edge(id, action, to);
            edges.insert(id, edge);
        }
        for (at, code) in writer.code.iter().enumerate() {
            let Code::Step(id, _) = *code else { continue };
            let listed = self.alternatives(writer, at, exit, &edges)?;
            let location = self.number(id).index();
            self.in_d_step[location] = true;
            self.steps[location] = Step::Inner(listed);
        }
        Ok(edges)
    }

    /// The statement at a position, and what is tried instead when it is not executable.
    fn alternatives(
        &mut self,
        writer: &Writer,
        at: usize,
        exit: LocId,
        edges: &HashMap<ElementId, EdgeId>,
    ) -> Result<Vec<EdgeId>> {
        let mut listed = Vec::new();
        let mut at = at;
        loop {
            let Code::Step(id, otherwise) = writer.code[at] else { return Ok(listed) };
            match edges.get(&id) {
                Some(edge) if !listed.contains(edge) => listed.push(*edge),
                _ => return Ok(listed),
            }
            let Some(behind) = otherwise.and_then(|option| writer.behind.get(&option)) else {
                return Ok(listed);
            };
            match writer.reach(*behind) {
                Some(Reached::Step(next)) => at = next,
                Some(Reached::Exit) => {
                    listed.push(self.new_edge(id, Action::Skip, exit));
                    return Ok(listed);
                }
                Some(Reached::Blocked) => return Ok(listed),
                None => return Err(self.endless(id)),
            }
        }
    }

    fn inner_action(&self, id: ElementId, kind: &NodeKind) -> Result<Action> {
        let refuse = |what: &str| {
            let message = format!("{what} cannot be used inside d_step");
            Err(Box::new(
                Diagnostic::new(crate::diagnostic::Code::E0305, self.element(id).node.span, message)
                    .help("use `atomic` instead"),
            ))
        };
        match kind {
            NodeKind::Basic(action) => match &**action {
                Action::Guard(e) | Action::Assert(e) | Action::Assign(_, e)
                    if crate::lower::expr::contains_run(e) =>
                {
                    refuse("`run`")
                }
                Action::Guard(e) | Action::Assert(e) if crate::lower::expr::contains_remote(e) => {
                    refuse("a remote reference")
                }
                action => Ok(action.clone()),
            },
            NodeKind::Else => Ok(Action::Else),
            NodeKind::End => refuse("the end of a process"),
            _ => Ok(Action::Skip),
        }
    }
}

/// Statements that Spin asks before it starts a d_step.
fn is_condition(action: &Action) -> bool {
    matches!(
        action,
        Action::Skip | Action::Guard(_) | Action::Send { .. } | Action::Receive { .. } | Action::Lock(_)
    )
}
