//! A job: a check that runs on a thread of its own, tells what happens as events, and can be cancelled.
//!
//! For clients that do something else meanwhile: a workbench, an editor, a service with many checks at once.
//! A job shares nothing with other jobs but the text and the program of its [`Session`]: it has its own stop
//! flag, and its memory limit counts what its own searches have. It writes no file: counterexamples come back
//! as data.

use crate::client::{Client, Kept};
use crate::failure::{Answer, Failure};
use crate::notice::Notice;
use crate::options::CheckOptions;
use crate::report::Report;
use crate::session::Session;
use search::{Flow, Observer, Snapshot};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use stop::Stop;
use system::Fault;
use trace::Evidence;

/// What happens while a job runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// Notices about the model.
    Notices(Vec<Notice>),
    /// How far the search is: several times a second.
    Progress(Box<Snapshot>),
    /// A violation was found and replayed; the report will have it with its trail.
    Violation(Box<Fault>),
}

/// A check under way. Dropping it cancels the check and waits for its end.
#[derive(Debug)]
pub struct Job {
    stop: Stop,
    events: Receiver<Event>,
    thread: Option<JoinHandle<Answer<Report>>>,
}

impl Job {
    /// Begins a check of the session's model. The error says that no thread can be started.
    pub fn start(session: &Arc<Session>, options: &CheckOptions) -> Result<Job, Failure> {
        let (sender, events) = channel();
        let (stop, session, options) = (Stop::never(), Arc::clone(session), options.clone());
        let obeyed = stop.clone();
        let check = move || session.check(&options, &obeyed, &mut Teller(sender));
        let thread = Builder::new().name("job".to_string()).spawn(check);
        let thread = thread.map_err(|why| Failure::Internal(format!("no thread could be started: {why}")))?;
        Ok(Job { stop, events, thread: Some(thread) })
    }

    /// Asks the check to end. It answers soon, with what it knows by then.
    pub fn cancel(&self) {
        self.stop.flag().store(true, Ordering::Relaxed);
    }

    /// What happens, in order; the end of the events is the end of the check.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    /// Whether the answer is there.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the answer.
    pub fn wait(mut self) -> Answer<Report> {
        self.join().unwrap_or_else(|| Answer::failed(Failure::Internal("the job has no answer".to_string())))
    }

    /// The answer of a thread that did not panic: a panic of the check is a failure by itself.
    fn join(&mut self) -> Option<Answer<Report>> {
        self.thread.take()?.join().ok()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancel();
        self.join();
    }
}

/// Tells the events. When nobody listens any more they are lost.
struct Teller(Sender<Event>);

impl Teller {
    fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }
}

impl Observer for Teller {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        self.tell(Event::Progress(Box::new(*snapshot)));
        Flow::Continue
    }
}

impl Client for Teller {
    fn notices(&mut self, notices: Vec<Notice>) -> Vec<Notice> {
        self.tell(Event::Notices(notices.clone()));
        notices
    }

    fn counterexample(&mut self, evidence: &Evidence) -> Kept {
        self.tell(Event::Violation(Box::new(evidence.fault().clone())));
        Kept::InReport
    }
}
