//! `--certify`: notes the states that a search expands, for a certificate.
//!
//! It is done at the waist: a system that passes everything on and notes every ordinary state that somebody
//! expands. So each order, each store and any number of workers is certified in the same way, and what a
//! search lost or a store took for known is missing in the certificate. States are written as the reference
//! machine writes them.

use crate::backend::Backend;
use crate::client::Client;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::property::Selected;
use crate::report::Certified;
use archive::DurableFile;
use archive::states::BLOCK;
use audit::certificate::put_state;
use audit::{CertificateWriter, Header};
use search::Checks;
use std::io::{self, BufWriter};
use std::sync::{Mutex, PoisonError};
use system::{
    ActionId, Capabilities, Fault, FaultKind, Labels, PortableStates, SleepMask, Successors,
    TransitionSystem, Worker,
};

/// A certificate is about one safety property.
pub fn refuse_properties(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let refused = |message: String, repair: &str| Err(Failure::refused_with(message, repair));
    match selected {
        _ if plan.options.certify.is_none() => Ok(()),
        [only] if only.checks.is_some() => Ok(()),
        [_, _, ..] if selected.iter().all(|property| property.checks.is_some()) => refused(
            "--certify writes one certificate, and several properties are asked for".to_string(),
            "add --property safety, which is all of them",
        ),
        _ => {
            let other = selected.iter().find(|property| property.checks.is_none());
            let name = other.map_or("this", |property| property.name.as_str());
            refused(
                format!("--certify is for safety: that {name} holds cannot be certified yet"),
                "add --property safety, or leave --certify out",
            )
        }
    }
}

type Out = BufWriter<DurableFile>;

/// Where the certificate is.
enum Writing {
    /// Nothing was noted yet.
    Begun(Out),
    Going(CertificateWriter<Out>),
    /// It cannot be written.
    Failed(io::Error),
}

/// Notes the states of a search.
pub struct Recorder<'a> {
    path: &'a str,
    header: Header,
    /// Knows a state of the search as a state of the reference machine.
    searched: &'a dyn Backend,
    writing: Mutex<Writing>,
}

impl<'a> Recorder<'a> {
    /// For a search that has not begun, where a certificate is wanted.
    pub fn wanted(
        plan: &'a Plan,
        searched: &'a dyn Backend,
        property: &str,
        checks: Checks,
        client: &mut dyn Client,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = &plan.options.certify else { return Ok(None) };
        let Some(interp) = searched.interp() else {
            return Err(Failure::Internal("there is no program to certify".to_string()));
        };
        if interp.hidden_bytes() > 0 {
            return Err(Failure::refused_with(
                "--certify cannot be used here: the values of hidden variables are not part of a state, and may decide what comes after it",
                "declare them without hidden, or leave --certify out",
            ));
        }
        let header = Header {
            version: crate::VERSION.to_string(),
            model: plan.source.path.clone(),
            property: property.to_string(),
            kinds: FaultKind::ALL.into_iter().filter(|&kind| checks.count(kind)).collect(),
            channels_empty: checks.channels_empty,
            program: interp.fingerprint(),
        };
        let file = BufWriter::with_capacity(1 << 18, client.certificate_file(path)?);
        Ok(Some(Recorder { path, header, searched, writing: Mutex::new(Writing::Begun(file)) }))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Writing, &Header) -> T) -> T {
        work(&mut self.writing.lock().unwrap_or_else(PoisonError::into_inner), &self.header)
    }

    /// A search begins: what an earlier one noted is forgotten.
    pub fn begin(&self) {
        self.with(|writing, _| {
            *writing = match std::mem::replace(writing, Writing::Failed(io::ErrorKind::Other.into())) {
                Writing::Going(writer) => restarted(writer.into_inner()),
                other => other,
            };
        });
    }

    fn add(&self, states: &[u8], n: u64) {
        self.with(|writing, header| {
            let failed = || Writing::Failed(io::ErrorKind::Other.into());
            *writing = match going(std::mem::replace(writing, failed()), header) {
                Ok(mut writer) => match writer.add(states, n) {
                    Ok(()) => Writing::Going(writer),
                    Err(error) => Writing::Failed(error),
                },
                Err(error) => Writing::Failed(error),
            };
        });
    }

    /// Puts the certificate of `n_states` states into its place.
    pub fn finish(self, n_states: u64) -> Result<Certified, Failure> {
        let Recorder { path, header, writing, .. } = self;
        let writing = writing.into_inner().unwrap_or_else(PoisonError::into_inner);
        let finished = going(writing, &header).and_then(|writer| writer.finish(n_states));
        let kept = finished.and_then(|(out, bytes)| {
            out.into_inner().map_err(io::IntoInnerError::into_error)?.keep()?;
            Ok(bytes)
        });
        match kept {
            Ok(bytes) => Ok(Certified { file: path.to_string(), bytes }),
            Err(error) => Err(Failure::unwritten(
                &format!("cannot write the certificate {path}"),
                &error,
                "make room, or give another file name with --certify",
            )),
        }
    }
}

fn restarted(out: Out) -> Writing {
    let (mut file, _) = out.into_parts();
    match file.restart() {
        Ok(()) => Writing::Begun(BufWriter::with_capacity(1 << 18, file)),
        Err(error) => Writing::Failed(error),
    }
}

fn going(writing: Writing, header: &Header) -> io::Result<CertificateWriter<Out>> {
    match writing {
        Writing::Begun(out) => CertificateWriter::new(out, header),
        Writing::Going(writer) => Ok(writer),
        Writing::Failed(error) => Err(error),
    }
}

/// A system that notes which ordinary states are expanded.
pub struct Recorded<'a> {
    system: &'a dyn TransitionSystem,
    recorder: &'a Recorder<'a>,
}

impl<'a> Recorded<'a> {
    /// Everything but the noting is the system's.
    pub fn new(system: &'a dyn TransitionSystem, recorder: &'a Recorder<'a>) -> Self {
        Recorded { system, recorder }
    }
}

impl TransitionSystem for Recorded<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.system.enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.system.fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let (inner, recorder) = (self.system.worker(), self.recorder);
        Box::new(RecordedWorker { inner, recorder, block: Vec::new(), n: 0 })
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.system.labels(state)
    }

    fn hidden_bytes(&self) -> usize {
        self.system.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.system.deadlock(state)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.system.capabilities()
    }
}

struct RecordedWorker<'a> {
    inner: Box<dyn Worker + 'a>,
    recorder: &'a Recorder<'a>,
    block: Vec<u8>,
    n: u64,
}

impl RecordedWorker<'_> {
    fn hand_over(&mut self) {
        if self.n > 0 {
            self.recorder.add(&self.block, self.n);
            self.block.clear();
            self.n = 0;
        }
    }
}

impl Worker for RecordedWorker<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.inner.enabled(state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.inner.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        let noted = self.recorder.searched.to_interp(state);
        if self.block.len() + noted.len() > BLOCK {
            self.hand_over();
        }
        put_state(&mut self.block, &noted);
        self.n += 1;
        self.inner.expand_active(state, asleep, out);
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        self.inner.follow(state, most, out)
    }
}

impl Drop for RecordedWorker<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deferred_drop::DeferredDrop;
    use crate::dispatch::Exploration;
    use crate::options::{CheckOptions, Exec, Source};
    use crate::session::Session;
    use crate::strategy;
    use crate::{Disk, Silent};
    use audit::{Audited, Certificate, Share, confirm};
    use machine::opt::Reductions;
    use search::{Limits, Method, Proviso, Reduce, Task};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::AtomicBool;
    use stop::Stop;
    use system::{Lean, LeanOrder, ProcessOrder, Reducer, Reduction};

    /// The bugs that are planted.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Bug {
        None,
        /// The machine leaves the last of four or more outcomes out.
        OutcomeLost,
        /// The machine does not write the last byte that a step changes.
        NotWritten,
        /// The reducer lets processes sleep that must not.
        SleepsTooMuch,
    }

    /// A machine with a bug.
    struct Buggy<'a>(&'a dyn TransitionSystem, Bug);

    struct BuggyWorker<'a>(Box<dyn Worker + 'a>, Bug);

    impl TransitionSystem for Buggy<'_> {
        fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
            self.0.initial(out)
        }

        fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
            self.0.enabled(state, out);
        }

        fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            self.0.fire(state, actions, out);
        }

        fn worker(&self) -> Box<dyn Worker + '_> {
            Box::new(BuggyWorker(self.0.worker(), self.1))
        }

        fn labels(&self, state: &[u8]) -> Labels {
            self.0.labels(state)
        }

        fn hidden_bytes(&self) -> usize {
            self.0.hidden_bytes()
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.0.deadlock(state)
        }

        fn capabilities(&self) -> Capabilities<'_> {
            self.0.capabilities()
        }
    }

    impl Worker for BuggyWorker<'_> {
        fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
            self.0.enabled(state, out);
        }

        fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            self.0.fire(state, actions, out);
        }

        fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
            let first = out.list.len();
            self.0.expand_active(state, asleep, out);
            if self.1 == Bug::OutcomeLost && out.list.len() >= first + 4 {
                out.list.pop();
            }
            if self.1 == Bug::NotWritten && out.list.len() > first {
                let last = out.list[out.list.len() - 1];
                let target = last.start as usize..(last.start + last.len) as usize;
                let same = target.len() == state.len();
                let mut changed = target.zip(state);
                let written = changed.rfind(|&(at, &byte)| same && out.bytes[at] != byte);
                written.into_iter().for_each(|(at, &byte)| out.bytes[at] = byte);
            }
        }

        fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
            self.0.follow(state, most, out)
        }
    }

    /// Says that everything commutes.
    #[derive(Debug)]
    struct Careless<'a>(&'a dyn Reduction);

    struct CarelessReducer<'a>(Box<dyn Reducer + 'a>);

    impl Reduction for Careless<'_> {
        fn reducer(&self) -> Box<dyn Reducer + '_> {
            Box::new(CarelessReducer(self.0.reducer()))
        }

        fn lean(&self, order: ProcessOrder) -> Option<Box<dyn Lean + '_>> {
            self.0.lean(order)
        }
    }

    impl Reducer for CarelessReducer<'_> {
        fn choose_always(&mut self) {
            self.0.choose_always();
        }

        /// The first action is always enough.
        fn choose(&mut self, _: &[u8], enabled: &[ActionId], chosen: &mut Vec<u32>) -> system::Choice {
            chosen.clear();
            chosen.push(0);
            if enabled.len() > 1 { system::Choice::Part } else { system::Choice::All }
        }

        fn commute(&mut self, _: &[u8], _: ActionId, _: ActionId) -> bool {
            true
        }

        fn visible(&mut self, state: &[u8], action: ActionId) -> bool {
            self.0.visible(state, action)
        }

        fn single(&mut self, state: &[u8], actions: &[ActionId], most: u32) -> Option<(u32, u32)> {
            self.0.single(state, actions, most)
        }
    }

    /// A client that writes where it is told.
    struct Writes;

    impl crate::Observer for Writes {
        fn progress(&mut self, _: &crate::Snapshot) -> crate::Flow {
            crate::Flow::Continue
        }
    }

    impl Client for Writes {
        fn certificate_file(&mut self, path: &str) -> Result<DurableFile, Failure> {
            DurableFile::create(Path::new(path)).map_err(|error| Failure::Internal(error.to_string()))
        }
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The audit of what a search with this bug certifies.
    fn audited(model: &str, bug: Bug) -> Audited {
        let name = format!("spinor-bug-{}-{bug:?}-{model}.cert", std::process::id());
        let path = std::env::temp_dir().join(name);
        let source =
            Source { path: root().join("examples").join(model).display().to_string(), ..Source::default() };
        let words = ["--certify", &path.display().to_string(), "--threads", "1"].map(str::to_string);
        let options = CheckOptions::of_words(words.iter().map(String::as_str)).unwrap();
        let plan = Plan::new(&CheckOptions { source: source.clone(), ..options }).unwrap();
        let session = Session::load(&source, &Disk, &Stop::never()).unwrap();
        let none = Reductions { dead_variables: false, merge: false, fold: false };
        let backend = session.searched(none, Exec::Jit, &[]).unwrap();
        let recorder =
            Recorder::wanted(&plan, &backend, "safety", Checks::SAFETY, &mut Writes).unwrap().unwrap();
        let buggy = Buggy(backend.system(), bug);
        let recorded = Recorded::new(&buggy, &recorder);
        let honest = backend.reduction(crate::options::Por::None, false, reduce::Building::Closure).unwrap();
        let careless = Careless(&*honest);
        let sets = Reduce { by: &careless, method: Method::Sets, proviso: Proviso::ClosedSet };
        let lean =
            Reduce { by: &*honest, method: Method::Lean(LeanOrder::default()), proviso: Proviso::None };
        let reduce = Some(if bug == Bug::SleepsTooMuch { sets } else { lean });
        let (stop, checks) = (AtomicBool::new(false), Checks::NONE);
        let task =
            Task { checks, all_errors: true, seed: None, limits: Limits::default(), stop: &stop, reduce };
        let leaving = &DeferredDrop::default();
        let exploration = Exploration {
            plan: &plan,
            leaving,
            system: &recorded,
            task: &task,
            recorder: Some(&recorder),
            keeper: None,
            keeping: search::Keeping::NONE,
        };
        let outcome = strategy::search(&exploration, &mut Silent);
        recorder.finish(outcome.statistics.states).unwrap();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let certificate = Certificate::read(&file[..], || {}).unwrap();
        confirm(&certificate, &session.machine().unwrap(), Share::All, &Stop::never())
    }

    #[test]
    fn bugs_of_the_machine_and_of_a_reducer_are_caught() {
        for model in ["leader_election.pml", "philosophers_fixed.pml"] {
            assert_eq!(audited(model, Bug::None).flaw, None, "{model}");
            for bug in [Bug::OutcomeLost, Bug::NotWritten, Bug::SleepsTooMuch] {
                assert!(audited(model, bug).flaw.is_some(), "{model}: {bug:?} is not caught");
            }
        }
    }
}
