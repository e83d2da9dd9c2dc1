//! One run of a model: at random, or as somebody chooses.

use crate::VERSION;
use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::Source;
use crate::saving::{RealStorage, save};
use crate::session::Session;
use crate::simulation::{Ending, Input, Simulation};
use machine::Interp;
use promela::source::Files;
use search::Flow;
use std::io;
use std::path::Path;
use stop::Stop;
use system::Fault;
use trace::{Run, Trail, TrailStep};

/// What is to be simulated.
#[derive(Clone, Debug, Default)]
pub struct SimulateOptions {
    /// The model.
    pub source: Source,
    /// The same seed gives the same run.
    pub seed: u64,
    /// Stop after N steps.
    pub steps: Option<u64>,
}

/// Looks at a simulation while it happens. A watcher that does not look back lets the run
/// [`forget`](Run::forget).
pub trait Watch: Send {
    /// The run begins; from where is worth keeping only for its trail.
    fn begin(&mut self, _: &Origin) {}

    /// A step was taken.
    fn step(&mut self, run: &mut Run<'_>) -> Flow;

    /// The run has ended.
    fn end(&mut self, run: &mut Run<'_>, ending: &Ending);
}

/// Where a run comes from: what its trail has to say besides the steps.
#[derive(Clone, Debug)]
pub struct Origin {
    source: Source,
    fingerprint: u64,
}

impl Origin {
    /// A model, and the fingerprint of its text.
    pub fn new(source: Source, fingerprint: u64) -> Self {
        Origin { source, fingerprint }
    }

    /// Writes a run that shows an error as a trail, once it has been replayed. All of its steps must be
    /// remembered. The error says why not.
    pub fn write_trail(&self, path: &str, run: &Run<'_>, violation: Fault) -> io::Result<()> {
        let evidence = trace::confirm(run.system(), self.trail(run, violation)).map_err(io::Error::other)?;
        let mut content = |out: &mut dyn std::io::Write| trace::write_to(out, evidence.trail());
        save(&RealStorage, Path::new(path), &mut content)
    }

    /// The text of the trail of a run that meets an error, once it has been replayed.
    pub fn trail_text(&self, run: &Run<'_>, violation: Fault) -> io::Result<String> {
        let evidence = trace::confirm(run.system(), self.trail(run, violation)).map_err(io::Error::other)?;
        Ok(trace::write::write(evidence.trail()))
    }

    fn trail(&self, run: &Run<'_>, violation: Fault) -> Trail {
        let absolute = std::path::absolute(&self.source.path).ok();
        let step = |number| Some(TrailStep { action: run.step(number)?.action, info: run.info(number) });
        Trail {
            version: VERSION.to_string(),
            model: self.source.path.clone(),
            model_absolute: absolute.map(|path| path.to_string_lossy().into_owned()),
            fingerprint: self.fingerprint,
            options: self.source.options.clone(),
            property: "safety".to_string(),
            channels_empty: false,
            fair: None,
            cycle: None,
            steps: (1..=run.len()).filter_map(step).collect(),
            violation,
        }
    }
}

/// Runs a model once at random; `watch` sees each step when it was taken, and the end.
pub fn simulate(
    options: &SimulateOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
    input: &mut Input<'_>,
    watch: &mut dyn Watch,
) -> Answer<Ending> {
    let Answer { notices, result } = interact(options, files, stop, input, |mut begun| {
        watch.begin(&begun.origin);
        walk(&mut begun.simulation, options.steps, stop, watch)
    });
    Answer { notices, result: result.and_then(|ending| ending) }
}

/// A run at its beginning, and what it is made of.
pub struct Begun<'a, 'i> {
    /// The model.
    pub session: &'a Session,
    /// What executes it.
    pub machine: &'a Interp,
    /// The run.
    pub simulation: Simulation<'a, 'i>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Lets `drive` make a run.
pub fn interact<T: Send>(
    options: &SimulateOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
    input: &mut Input<'_>,
    drive: impl FnOnce(Begun<'_, '_>) -> T + Send,
) -> Answer<T> {
    let work = || {
        let session = match Session::load(&options.source, files, stop) {
            Ok(session) => session,
            Err(failure) => return Answer::failed(failure),
        };
        let origin = Origin::new(options.source.clone(), session.fingerprint());
        let result = session.machine().map(|machine| {
            let simulation = Simulation::new(&machine, options.seed, input);
            drive(Begun { session: &session, machine: &machine, simulation, origin })
        });
        Answer { notices: session.notices, result }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}

/// Walks at random until something ends the run.
fn walk(
    simulation: &mut Simulation<'_, '_>,
    limit: Option<u64>,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Ending, Failure> {
    let ending = loop {
        if let Some(fault) = simulation.fault() {
            break Ending::Fault(fault);
        }
        if limit.is_some_and(|limit| simulation.run().len() as u64 >= limit) {
            break Ending::StepsSpent;
        }
        // A step that is given up was not taken.
        let Ok(took) = stop::attempt(|| simulation.take_any()) else { break Ending::Interrupted };
        if !took.map_err(Failure::Internal)? {
            break simulation.ending().unwrap_or(Ending::Interrupted);
        }
        if watch.step(simulation.run_mut()) == Flow::Stop || stop.is_asked() {
            break Ending::Interrupted;
        }
    };
    watch.end(simulation.run_mut(), &ending);
    Ok(ending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;

    /// Keeps the texts of all steps, and the number of those that the end sees.
    #[derive(Default)]
    struct Texts(Vec<String>, usize);

    impl Watch for Texts {
        fn step(&mut self, run: &mut Run<'_>) -> Flow {
            self.0.extend(run.info(run.len()).map(|info| info.text));
            Flow::Continue
        }

        fn end(&mut self, run: &mut Run<'_>, _: &Ending) {
            self.1 = run.len();
        }
    }

    #[test]
    fn what_reads_is_enabled_until_the_input_ends() {
        let graph = Graph::parse("0 -> 1 -> 0; end 0").unwrap();
        let mut left = b"ab".iter();
        let mut input = || left.next().copied();
        let (stop, mut texts) = (Stop::never(), Texts::default());
        let mut simulation = Simulation::new(&graph, 0, &mut input);
        let ending = walk(&mut simulation, None, &stop, &mut texts).unwrap();
        assert_eq!((ending, texts.1), (Ending::InputEnded, 5));
    }

    fn run(text: &str, seed: u64, steps: Option<u64>) -> (Vec<String>, Ending) {
        let graph = Graph::parse(text).unwrap();
        let (stop, mut texts, mut input) = (Stop::never(), Texts::default(), || Some(0));
        let mut simulation = Simulation::new(&graph, seed, &mut input);
        let ending = walk(&mut simulation, steps, &stop, &mut texts).unwrap();
        assert_eq!(texts.0.len(), texts.1);
        (texts.0, ending)
    }

    #[test]
    fn a_run_ends_at_a_valid_end_a_fault_or_the_limit() {
        let (steps, ending) = run("0 -> 1 -> 2; end 2", 0, None);
        assert_eq!((steps.len(), ending), (2, Ending::ValidEnd));
        let (_, ending) = run("0 -> 1 -> 2", 0, None);
        assert!(matches!(ending, Ending::Fault(fault) if fault.message == "stuck at 2"));
        let (_, ending) = run("0 -> 1 -> 2; assert 0 1", 0, None);
        assert!(matches!(ending, Ending::Fault(fault) if fault.message.starts_with("assertion")));
        let (steps, ending) = run("0 -> 1 -> 0", 0, Some(7));
        assert_eq!((steps.len(), ending), (7, Ending::StepsSpent));
        assert!(matches!(run("broken", 0, None).1, Ending::Fault(_)));
    }

    #[test]
    fn the_seed_decides() {
        let text = "0 -> 1 -> 0; 0 -> 2 -> 0; 1 -> 2; 2 -> 1";
        assert_eq!(run(text, 5, Some(50)), run(text, 5, Some(50)));
        assert_ne!(run(text, 5, Some(50)).0, run(text, 6, Some(50)).0);
    }
}
