//! A model that was read.

use crate::check::Check;
use crate::error::Error;
use crate::explorer::Explorer;
use engine::replay::{TrailFile, replay};
use engine::simulate::{SimulateOptions, Watch, simulate};
use engine::simulation::Ending;
use engine::{Disk, Evidence, Flow, Notice, Session, Source, Stop};
use promela::source::Files;
use std::sync::Arc;
use system::StepInfo;

/// A model that was read: text, program, and what there is to say about it. Clones share all of that.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) session: Arc<Session>,
}

impl Model {
    /// Reads a model from a file; included files are found as the command line finds them.
    pub fn load(path: &str) -> Result<Model, Error> {
        let source = Source { path: path.to_string(), ..Source::default() };
        Model::read(&source, &Disk)
    }

    /// Takes a model as text; `name` is what places in it are called.
    pub fn from_text(name: &str, text: &str) -> Result<Model, Error> {
        let source = Source { path: name.to_string(), ..Source::default() };
        Model::read(&source, &OneFile { name, text })
    }

    /// Reads a model with preprocessor options and dialect of one's own, from files of one's own.
    pub fn read(source: &Source, files: &(dyn Files + Sync)) -> Result<Model, Error> {
        let session = Error::of(Session::open(source, files, &Stop::never()))?;
        Ok(Model { session: Arc::new(session) })
    }

    /// The warnings of the front end.
    pub fn warnings(&self) -> &[Notice] {
        &self.session.notices
    }

    /// A check of this model, to be given properties and options.
    pub fn check(&self) -> Check<'_> {
        Check::new(self)
    }

    /// Runs the model once, with random choices that the seed decides, for `most` steps at most. `STDIN` is
    /// empty.
    pub fn simulate(&self, seed: u64, most: u64) -> Result<Simulated, Error> {
        let options = SimulateOptions { source: self.session.source.clone(), seed, steps: Some(most) };
        let mut steps = Steps(Vec::new());
        let (files, stop) = (&*self.session.sources, Stop::never());
        let ending = Error::of(simulate(&options, files, &stop, &mut || None, &mut steps))?;
        Ok(Simulated { steps: steps.0, ending })
    }

    /// Executes a counterexample again, step by step; the error says where it no longer fits the model.
    pub fn replay(&self, evidence: &Evidence) -> Result<Vec<StepInfo>, Error> {
        let mut text = Vec::new();
        trace::write_to(&mut text, evidence.trail())
            .map_err(|error| Error { notices: vec![unwritten(&error)] })?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let files = TrailBeside { trail: text, files: &*self.session.sources };
        Error::of(replay(&TrailFile::new(TRAIL), &files, &Stop::never(), |replayed| {
            (1..=replayed.run.len()).filter_map(|number| replayed.run.info(number)).collect()
        }))
    }

    /// The states of the model, one step at a time, as the language defines them: no reduction, no merging.
    pub fn explore(&self) -> Result<Explorer, Error> {
        Explorer::new(&self.session)
    }
}

/// A run that was simulated.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Its steps.
    pub steps: Vec<StepInfo>,
    /// How it ended.
    pub ending: Ending,
}

/// Collects the steps of a run.
struct Steps(Vec<StepInfo>);

impl Watch for Steps {
    fn step(&mut self, run: &mut trace::Run<'_>) -> Flow {
        self.0.extend(run.info(run.len()));
        // Earlier states are never looked at again.
        run.forget(1);
        Flow::Continue
    }

    fn end(&mut self, _: &mut trace::Run<'_>, _: &Ending) {}
}

/// A model of one text.
struct OneFile<'a> {
    name: &'a str,
    text: &'a str,
}

impl Files for OneFile<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match path == self.name {
            true => Ok(self.text.to_string()),
            false => Err(promela::source::NO_SUCH_FILE.to_string()),
        }
    }
}

/// What the trail is called beside the files of the model.
const TRAIL: &str = "<trail>";

/// The files of the model, and a trail.
struct TrailBeside<'a> {
    trail: String,
    files: &'a (dyn Files + Sync),
}

impl Files for TrailBeside<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == TRAIL { Ok(self.trail.clone()) } else { self.files.read(path) }
    }
}

fn unwritten(error: &std::io::Error) -> Notice {
    Notice::plain(promela::diagnostic::Code::E0999, format!("the trail cannot be written: {error}"), None)
}
