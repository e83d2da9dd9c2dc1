//! The first process and the others: who is alive, how far they are, and what they found.
//!
//! For each other process there is a thread that reads what it tells, and one for all that counts the time in
//! which nothing is heard. A connection that ends, or silence, makes a process *lost*: the search stops, and
//! the first one that was lost is named with what is known of its end.

use crate::message::Message;
use search::{Snapshot, StopReason};
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two signs of life, and between two looks whether somebody is silent.
pub(crate) const BEAT: Duration = Duration::from_millis(100);
/// Time that a process gets to end by itself.
const FAREWELL: Duration = Duration::from_secs(2);
/// What is kept of what a process says on standard error.
const LAST_WORDS: usize = 4096;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that is lost, and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Its number.
    pub rank: usize,
    /// Who it is, and what happened, as a sentence.
    pub what: String,
}

/// How far all are, as far as is known here.
pub(crate) struct Board {
    rank: usize,
    snapshots: Vec<Mutex<Snapshot>>,
}

impl Board {
    pub fn new(rank: usize, size: usize) -> Arc<Board> {
        Arc::new(Board { rank, snapshots: (0..size).map(|_| Mutex::default()).collect() })
    }

    /// A process tells how far it is.
    pub fn note(&self, rank: usize, at: Snapshot) {
        if let Some(place) = self.snapshots.get(rank) {
            *lock(place) = at;
        }
    }

    pub fn own(&self) -> Snapshot {
        self.snapshots.get(self.rank).map_or_else(Snapshot::default, |own| *lock(own))
    }

    /// This process tells how far it is; answers the sum of the others.
    pub fn tell(&self, own: &Snapshot) -> Snapshot {
        self.note(self.rank, *own);
        let mut sum = Snapshot::default();
        for (_, other) in self.snapshots.iter().enumerate().filter(|(rank, _)| *rank != self.rank) {
            let other = lock(other);
            sum.states += other.states;
            sum.transitions += other.transitions;
            sum.frontier += other.frontier;
            sum.errors += other.errors;
        }
        sum
    }
}

/// A process that was started here, and the end of what it says on standard error.
pub(crate) struct Started {
    pub child: Child,
    words: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl Started {
    pub fn new(mut child: Child) -> Self {
        let words: Arc<Mutex<Vec<u8>>> = Arc::default();
        let heard = Arc::clone(&words);
        let listen =
            |stderr| std::thread::Builder::new().name("peer".to_string()).spawn(|| listen(stderr, heard));
        let listener = child.stderr.take().and_then(|stderr| listen(stderr).ok());
        Started { child, words, listener }
    }

    /// Whether it has ended, and how.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        if let Some(listener) = self.listener.take() {
            // Nobody else has the other end.
            let _ = listener.join();
        }
        Some(self.told(status))
    }

    fn told(&self, status: ExitStatus) -> String {
        let words = String::from_utf8_lossy(&lock(&self.words)).into_owned();
        let last = words.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map_or_else(String::new, |line| format!(", after saying: {}", line.trim()));
        format!("{}{last}", end_of(status))
    }

    /// Waits until it has ended, or ends it.
    fn finish(&mut self, until: Instant) {
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(mut stderr: impl Read, heard: Arc<Mutex<Vec<u8>>>) {
    let mut some = [0; 512];
    while let Ok(n) = stderr.read(&mut some) {
        if n == 0 {
            return;
        }
        let mut heard = lock(&heard);
        heard.extend_from_slice(&some[..n]);
        let too_many = heard.len().saturating_sub(LAST_WORDS);
        heard.drain(..too_many);
    }
}

#[cfg(unix)]
fn end_of(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".to_string(),
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus) -> String {
    status.code().map_or_else(|| "ended".to_string(), |code| format!("ended with status {code}"))
}

/// What the threads of the first process share.
pub(crate) struct Watch {
    /// All are to stop.
    halt: AtomicBool,
    /// Why: the first reason counts.
    reason: OnceLock<StopReason>,
    lost: OnceLock<Lost>,
    /// What is sent to each of the others.
    to: Vec<Mutex<TcpStream>>,
    started: Vec<Mutex<Started>>,
    /// For each of the others, beats since it was heard last.
    silence: Vec<AtomicU32>,
    /// Nobody is waited for any more.
    over: AtomicBool,
}

impl Watch {
    fn stop_all(&self, reason: StopReason) {
        let _ = self.reason.set(reason);
        if !self.halt.swap(true, Ordering::AcqRel) {
            for to in &self.to {
                // Who does not hear it is lost.
                let _ = Message::Stop.send(&mut *lock(to));
            }
        }
    }

    /// A process is lost: the first that is, is named. `at` is its place among the others.
    fn lose(&self, at: usize, silent: Option<Duration>) {
        if self.over.load(Ordering::Acquire) {
            return;
        }
        let mut started = lock(&self.started[at]);
        let how = match silent {
            Some(time) => format!("has said nothing for {} s (--peer-timeout)", time.as_secs_f64()),
            None => {
                let until = Instant::now() + Duration::from_millis(500);
                let mut end = started.ended();
                while end.is_none() && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                    end = started.ended();
                }
                end.unwrap_or_else(|| "closed its connection".to_string())
            }
        };
        let what = format!("process {} of the cluster (pid {}) {how}", at + 1, started.child.id());
        let _ = self.lost.set(Lost { rank: at + 1, what });
        let _ = started.child.kill();
        drop(started);
        self.stop_all(StopReason::Interrupted);
        // Whoever waits for its answers hears that there will be none.
        let _ = lock(&self.to[at]).shutdown(Shutdown::Both);
    }
}

/// What another process answers.
enum Answer {
    Result(Vec<u8>),
    Way(Vec<u8>),
}

/// The first process's view of the others.
pub struct Leader {
    watch: Arc<Watch>,
    /// What each of the others answers; it ends with the connection.
    answers: Vec<Receiver<Answer>>,
    threads: Vec<JoinHandle<()>>,
}

impl Leader {
    /// Begins to watch over processes that are connected, in the order of their ranks.
    pub(crate) fn new(
        others: Vec<(Started, TcpStream)>,
        board: &Arc<Board>,
        peer_timeout: Duration,
    ) -> io::Result<Leader> {
        let (mut to, mut from, mut started) = (Vec::new(), Vec::new(), Vec::new());
        for (process, socket) in others {
            from.push(socket.try_clone()?);
            to.push(Mutex::new(socket));
            started.push(Mutex::new(process));
        }
        let silence = from.iter().map(|_| AtomicU32::new(0)).collect();
        let (halt, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (reason, lost) = (OnceLock::new(), OnceLock::new());
        let watch = Arc::new(Watch { halt, reason, lost, to, started, silence, over });
        let (mut answers, mut threads) = (Vec::new(), Vec::new());
        let spawn = |work: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name("cluster".to_string()).spawn(work)
        };
        for (at, socket) in from.into_iter().enumerate() {
            let (sender, answer) = channel();
            let (watch, board) = (Arc::clone(&watch), Arc::clone(board));
            threads.push(spawn(Box::new(move || hear(at, socket, &watch, &board, &sender)))?);
            answers.push(answer);
        }
        let watching = Arc::clone(&watch);
        threads.push(spawn(Box::new(move || count_silence(&watching, peer_timeout)))?);
        Ok(Leader { watch, answers, threads })
    }

    /// Set when all are to stop.
    pub fn halt(&self) -> &AtomicBool {
        &self.watch.halt
    }

    /// All are to stop for this reason, unless there was another one before.
    pub fn stop_all(&self, reason: StopReason) {
        self.watch.stop_all(reason);
    }

    /// Why all stopped; nothing when all came to the end.
    pub fn reason(&self) -> Option<StopReason> {
        self.watch.reason.get().copied()
    }

    /// The process that was lost.
    pub fn lost(&self) -> Option<&Lost> {
        self.watch.lost.get()
    }

    /// What the others found, in the order of their ranks; `None` when one is lost.
    pub fn results(&self) -> Option<Vec<Vec<u8>>> {
        let result = |at| match self.answer(at)? {
            Answer::Result(found) => Some(found),
            Answer::Way(_) => None,
        };
        (0..self.answers.len()).map(result).collect()
    }

    /// Asks another process for the way to one of its states; `None` when it is lost.
    pub fn ask(&self, rank: usize, state: u64) -> Option<Vec<u8>> {
        let at = rank.checked_sub(1)?;
        Message::Ask(state).send(&mut *lock(self.watch.to.get(at)?)).ok()?;
        match self.answer(at)? {
            Answer::Way(way) => Some(way),
            Answer::Result(_) => None,
        }
    }

    fn answer(&self, at: usize) -> Option<Answer> {
        loop {
            match self.answers.get(at)?.recv_timeout(BEAT) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                // A search is over when one process is lost, whoever is asked.
                Err(RecvTimeoutError::Timeout) if self.lost().is_some() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Leader {
    /// Takes leave of all, and ends who does not go.
    fn drop(&mut self) {
        self.watch.over.store(true, Ordering::Release);
        for to in &self.watch.to {
            let _ = Message::Bye.send(&mut *lock(to));
        }
        let until = Instant::now() + FAREWELL;
        for started in &self.watch.started {
            lock(started).finish(until);
        }
        for to in &self.watch.to {
            let _ = lock(to).shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Hears what a process tells, until its connection ends.
fn hear(at: usize, socket: TcpStream, watch: &Watch, board: &Board, answers: &Sender<Answer>) {
    let mut from = BufReader::new(socket);
    loop {
        let message = Message::receive(&mut from);
        watch.silence[at].store(0, Ordering::Relaxed);
        let answer = match message {
            Ok(Message::Progress(snapshot)) => {
                board.note(at + 1, snapshot);
                continue;
            }
            Ok(Message::Result { stop, found }) => {
                if stop != StopReason::Completed {
                    watch.stop_all(stop);
                }
                Answer::Result(found)
            }
            Ok(Message::Answer(way)) => Answer::Way(way),
            Ok(_) | Err(_) => return watch.lose(at, None),
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

/// Counts the beats in which nothing is heard of a process. Beats of this process, not time: when it sleeps
/// itself, nobody else is silent.
fn count_silence(watch: &Watch, peer_timeout: Duration) {
    let most = u32::try_from(peer_timeout.as_millis() / BEAT.as_millis()).unwrap_or(u32::MAX).max(1);
    while !watch.over.load(Ordering::Acquire) {
        std::thread::park_timeout(BEAT);
        for (at, beats) in watch.silence.iter().enumerate() {
            if beats.fetch_add(1, Ordering::Relaxed) >= most && watch.lost.get().is_none() {
                watch.lose(at, Some(peer_timeout));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_summed_up() {
        let board = Board::new(1, 3);
        let at = |states| Snapshot { states, transitions: 2 * states, ..Snapshot::default() };
        board.note(0, at(5));
        board.note(2, at(7));
        board.note(9, at(1000));
        let sum = board.tell(&at(100));
        assert_eq!((sum.states, sum.transitions, board.own().states), (12, 24, 100));
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_a_process_is_told_with_its_last_words() {
        use std::process::{Command, Stdio};
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stderr(Stdio::piped());
            let mut started = Started::new(command.spawn().unwrap());
            loop {
                if let Some(end) = started.ended() {
                    return end;
                }
                std::thread::yield_now();
            }
        };
        assert_eq!(shell("echo one >&2; echo two >&2; exit 7"), "ended with status 7, after saying: two");
        assert_eq!(shell("kill -9 $$"), "was ended by signal 9");
    }
}
