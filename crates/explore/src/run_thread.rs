//! A run on a thread of its own, which takes commands.
//!
//! A run borrows its machine, and neither can be kept beside what else a server or an editor has; so one
//! thread owns session, machine and run, and everybody else sends it work through a channel. A command that
//! panics ends the thread and nothing else: [`RunThread::finish`] then tells what happened.

use crate::exploration::Exploration;
use engine::replay::{Replayed, TrailFile, replay, replay_trail};
use engine::simulate::{SimulateOptions, interact};
use engine::{Answer, Failure, Session};
use promela::source::Files;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use stop::Stop;
use trace::Trail;

/// What is done with a run.
type Command = Box<dyn FnOnce(&mut Exploration<'_, '_>) + Send>;
/// Where characters that a model reads come from.
pub type Input = Box<dyn FnMut() -> Option<u8> + Send>;

/// The thread is no longer there: the run could not begin, or a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// A run that is owned by a thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct RunThread {
    commands: Option<Sender<Command>>,
    thread: Option<JoinHandle<Answer<()>>>,
}

impl RunThread {
    /// A run of a model from its beginning.
    pub fn simulate(
        options: SimulateOptions,
        files: impl Files + Sync + Send + 'static,
        stop: Stop,
        mut input: Input,
    ) -> Result<RunThread, Failure> {
        Self::start(move |commands| {
            interact(&options, &files, &stop, &mut *input, move |begun| {
                serve(Exploration::of_model(begun), &commands);
            })
        })
    }

    /// A counterexample in a file.
    pub fn replay(
        file: TrailFile,
        files: impl Files + Sync + Send + 'static,
        stop: Stop,
    ) -> Result<RunThread, Failure> {
        Self::start(move |commands| replay(&file, &files, &stop, move |replayed| follow(replayed, &commands)))
    }

    /// A counterexample that a check found.
    pub fn follow(session: Arc<Session>, trail: Trail) -> Result<RunThread, Failure> {
        Self::start(move |commands| {
            replay_trail(&session, trail, move |replayed| follow(replayed, &commands))
        })
    }

    fn start(
        work: impl FnOnce(Receiver<Command>) -> Answer<()> + Send + 'static,
    ) -> Result<RunThread, Failure> {
        let (sender, commands) = channel();
        let thread = Builder::new().name("run".to_string()).spawn(move || work(commands));
        let thread = thread.map_err(|why| Failure::Internal(format!("no thread could be started: {why}")))?;
        Ok(RunThread { commands: Some(sender), thread: Some(thread) })
    }

    /// Lets the thread do something with the run, and waits for the result.
    pub fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Exploration<'_, '_>) -> T + Send + 'static,
    ) -> Result<T, Ended> {
        let (sender, result) = channel();
        let command: Command = Box::new(move |exploration| {
            // Who asked may have gone.
            let _ = sender.send(work(exploration));
        });
        self.commands.as_ref().ok_or(Ended)?.send(command).map_err(|_| Ended)?;
        result.recv().map_err(|_| Ended)
    }

    /// Ends the thread; what there is to tell about the model, and why the run ended early if it did.
    pub fn finish(mut self) -> Answer<()> {
        self.join().unwrap_or_else(|| Answer::failed(Failure::Internal("the run has no thread".to_string())))
    }

    fn join(&mut self) -> Option<Answer<()>> {
        self.commands = None;
        self.thread.take()?.join().ok()
    }
}

impl Drop for RunThread {
    fn drop(&mut self) {
        self.join();
    }
}

fn follow(replayed: &mut Replayed<'_>, commands: &Receiver<Command>) {
    // What comes from outside is not part of a trail.
    let mut nothing = || None;
    serve(Exploration::of_trail(replayed, &mut nothing), commands);
}

fn serve(mut exploration: Exploration<'_, '_>, commands: &Receiver<Command>) {
    while let Ok(command) = commands.recv() {
        command(&mut exploration);
    }
}
