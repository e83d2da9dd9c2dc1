//! How the processes of a search are started, and find each other, on loopback.
//!
//! The first one listens, and starts the others with the port, and with a secret in their environment, which
//! only their owner can read. Each of them says who it is and shows the secret; whoever does not is no part of
//! the search. When all agree about version, program and options, they hear where the others are, and each
//! connects to all before it. Only then do the sockets go to timely.

use crate::flow::Flow;
use crate::message::{Digest, KEY, Message};
use crate::supervise::{BEAT, Board, Leader, Started};
use search::StopReason;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where the secret is in the environment of a process.
const KEY_NAME: &str = "SPINOR_CLUSTER_KEY";
/// What connections between processes begin with.
const MAGIC: &[u8; 8] = b"spinor-x";
/// Time in which all must have come, at least: each of them reads and compiles the model first.
const PREPARATION: Duration = Duration::from_secs(60);
/// Time in which a connection must say who it is.
const INTRODUCTION: Duration = Duration::from_secs(2);
/// Time between two looks at a listener.
const LOOK: Duration = Duration::from_millis(2);

/// What the first process wants.
pub struct Request<'a> {
    /// How many processes there are, at least 1.
    pub size: usize,
    /// The command that starts the process with a rank, which is to join at a port.
    pub command: &'a dyn Fn(usize, u16) -> Command,
    /// What all must agree about.
    pub digest: Digest,
    /// What the first one decided for all.
    pub decided: Vec<u8>,
    /// A process that is silent for so long is lost.
    pub peer_timeout: Duration,
    /// The start is to be given up.
    pub stop: &'a AtomicBool,
}

/// Why there is no search.
#[derive(Debug)]
pub enum StartError {
    /// Somebody gave it up.
    Stopped,
    /// A process did not come; who, and why, as a sentence.
    Absent(String),
    /// Processes do not agree; about what.
    Disagreement(String),
    /// The system refuses something.
    System(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        StartError::System(error)
    }
}

/// A socket that listens on loopback, and its port.
fn listen() -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// The next connection, if there is one now.
fn accept(listener: &TcpListener) -> Option<TcpStream> {
    let (socket, _) = listener.accept().ok()?;
    socket.set_nonblocking(false).ok()?;
    socket.set_nodelay(true).ok()?;
    socket.set_read_timeout(Some(INTRODUCTION)).ok()?;
    Some(socket)
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Sockets between which nothing was sent, by rank.
type Sockets = Vec<Option<TcpStream>>;

/// Connects to all with lower ranks, and waits for those with higher ones. `look` says whether to give up.
fn meet(
    listener: &TcpListener,
    (rank, ports): (usize, &[u16]),
    key: &[u8; KEY],
    look: &mut dyn FnMut() -> Result<(), StartError>,
) -> Result<Sockets, StartError> {
    let mut sockets: Sockets = ports.iter().map(|_| None).collect();
    for (other, &port) in ports[..rank].iter().enumerate() {
        let mut socket = connect(port)?;
        let mut introduction = MAGIC.to_vec();
        introduction.extend_from_slice(key);
        introduction.extend_from_slice(&(rank as u32).to_le_bytes());
        socket.write_all(&introduction)?;
        sockets[other] = Some(socket);
    }
    while sockets[rank + 1..].iter().any(Option::is_none) {
        look()?;
        let Some(mut socket) = accept(listener) else {
            std::thread::sleep(LOOK);
            continue;
        };
        // Who does not know the secret is not one of us.
        let Some(other) = introduced(&mut socket, key) else { continue };
        if let Some(place) = sockets.get_mut(other).filter(|place| other > rank && place.is_none()) {
            socket.set_read_timeout(None)?;
            *place = Some(socket);
        }
    }
    Ok(sockets)
}

/// Who is at the other end of a connection, if it is one of us.
fn introduced(socket: &mut TcpStream, key: &[u8; KEY]) -> Option<usize> {
    let mut introduction = [0; MAGIC.len() + KEY + 4];
    socket.read_exact(&mut introduction).ok()?;
    let (magic, rest) = introduction.split_at(MAGIC.len());
    let (shown, rank) = rest.split_at(KEY);
    let rank = u32::from_le_bytes(*rank.first_chunk()?);
    (magic == MAGIC && shown == key).then_some(rank as usize)
}

/// Starts the other processes, and meets them.
pub fn lead(request: &Request<'_>) -> Result<(Leader, Flow), StartError> {
    let mut key = [0; KEY];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    let ((control, control_port), (listener, port)) = (listen()?, listen()?);
    let mut started = start_all(request, control_port, &key)?;
    let hellos = welcome(request, &control, &key, &mut started)?;
    let mut ports = vec![port];
    for (rank, (_, port, digest)) in (1..).zip(&hellos) {
        agree(rank, &request.digest, digest)?;
        ports.push(*port);
    }
    let mut sockets: Vec<TcpStream> = hellos.into_iter().map(|hello| hello.0).collect();
    let begin = Message::Begin { ports: ports.clone(), decided: request.decided.clone() };
    for (socket, rank) in sockets.iter_mut().zip(1..) {
        let absent = |error| StartError::Absent(format!("process {rank} of the cluster was lost: {error}"));
        begin.send(socket).map_err(absent)?;
    }
    let until = Instant::now() + preparation(request);
    let between = meet(&listener, (0, &ports), &key, &mut || still_wanted(request, until, &mut started))?;
    let board = Board::new(0, request.size);
    let leader = Leader::new(started.into_iter().zip(sockets).collect(), &board, request.peer_timeout)?;
    Ok((leader, Flow::new(between, 0, board)?))
}

fn start_all(request: &Request<'_>, port: u16, key: &[u8; KEY]) -> Result<Vec<Started>, StartError> {
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let start = |rank| {
        let mut command = (request.command)(rank, port);
        command.env(KEY_NAME, &hex).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // An interrupt at the terminal is for the first process, which tells the others.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(|error| {
            StartError::Absent(format!("process {rank} of the cluster could not be started: {error}"))
        })?;
        Ok(Started::new(child))
    };
    (1..request.size).map(start).collect()
}

/// The time in which all must have come.
fn preparation(request: &Request<'_>) -> Duration {
    request.peer_timeout.max(PREPARATION)
}

/// Whether to go on with the start.
fn still_wanted(request: &Request<'_>, until: Instant, started: &mut [Started]) -> Result<(), StartError> {
    if request.stop.load(Ordering::Relaxed) {
        return Err(StartError::Stopped);
    }
    for (process, rank) in started.iter_mut().zip(1..) {
        if let Some(end) = process.ended() {
            let pid = process.child.id();
            return Err(StartError::Absent(format!("process {rank} of the cluster (pid {pid}) {end}")));
        }
    }
    if Instant::now() >= until {
        let time = preparation(request).as_secs_f64();
        let what =
            format!("not all processes of the cluster came within {time} s; --peer-timeout gives them more");
        return Err(StartError::Absent(what));
    }
    Ok(())
}

/// A process that came: its connection, where it is reached, and what it brings.
type Hello = (TcpStream, u16, Digest);

/// Waits until all have come, in the order of their ranks.
fn welcome(
    request: &Request<'_>,
    control: &TcpListener,
    key: &[u8; KEY],
    started: &mut [Started],
) -> Result<Vec<Hello>, StartError> {
    let mut here: Vec<Option<Hello>> = started.iter().map(|_| None).collect();
    let until = Instant::now() + preparation(request);
    while here.iter().any(Option::is_none) {
        still_wanted(request, until, started)?;
        let Some(mut socket) = accept(control) else {
            std::thread::sleep(LOOK);
            continue;
        };
        let Ok(Message::Hello { key: shown, rank, port, digest }) = Message::receive(&mut socket) else {
            continue;
        };
        let place = (rank as usize).checked_sub(1).and_then(|at| here.get_mut(at));
        if let Some(place) = place.filter(|place| shown == *key && place.is_none()) {
            socket.set_read_timeout(None)?;
            *place = Some((socket, port, digest));
        }
    }
    Ok(here.into_iter().flatten().collect())
}

/// What two processes do not agree about, if there is anything.
fn agree(rank: usize, own: &Digest, other: &Digest) -> Result<(), StartError> {
    let about = match () {
        () if own.version != other.version => {
            format!("is version {} of this program, and not {}", other.version, own.version)
        }
        () if own.program != other.program => {
            "has read another model: a file was changed while the search began".to_string()
        }
        () if own.options != other.options => "was started with other options".to_string(),
        () => return Ok(()),
    };
    Err(StartError::Disagreement(format!("process {rank} of the cluster {about}")))
}

/// What a process asks of one that has ended.
enum Asked {
    Way(u64),
    Leave,
}

/// Another process than the first, as it sees the first.
pub struct Member {
    /// What the first one decided for all.
    pub decided: Vec<u8>,
    halt: Arc<AtomicBool>,
    to: Arc<Mutex<TcpStream>>,
    asked: Receiver<Asked>,
}

/// Joins a search as the process with this rank, at the port where the first one listens.
pub fn join(rank: usize, port: u16, digest: Digest) -> Result<(Member, Flow), StartError> {
    let key = key_from_environment().ok_or_else(|| {
        StartError::Absent(
            "there is no secret in the environment: this option is for processes of a cluster".into(),
        )
    })?;
    let (listener, own) = listen()?;
    let mut control = connect(port)?;
    Message::Hello { key, rank: rank as u32, port: own, digest }.send(&mut control)?;
    let Message::Begin { ports, decided } = Message::receive(&mut control)? else {
        return Err(StartError::Absent("the first process of the cluster does not begin".into()));
    };
    if rank >= ports.len() || ports.len() > usize::from(u16::MAX) {
        return Err(StartError::Absent(format!("there is no process {rank} in this cluster")));
    }
    let board = Board::new(rank, ports.len());
    let (halt, to) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(control.try_clone()?)));
    let (sender, asked) = channel();
    let (halting, beating, beat) = (Arc::clone(&halt), Arc::clone(&to), Arc::clone(&board));
    spawn(move || obey(control, &halting, &sender))?;
    spawn(move || live(&beating, &beat))?;
    let given_up = Arc::clone(&halt);
    let mut look = || match given_up.load(Ordering::Relaxed) {
        true => Err(StartError::Stopped),
        false => Ok(()),
    };
    let between = meet(&listener, (rank, &ports), &key, &mut look)?;
    let flow = Flow::new(between, rank, board)?;
    Ok((Member { decided, halt, to, asked }, flow))
}

fn key_from_environment() -> Option<[u8; KEY]> {
    let hex = std::env::var(KEY_NAME).ok().filter(|hex| hex.len() == 2 * KEY && hex.is_ascii())?;
    let mut key = [0; KEY];
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(key)
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name("cluster".to_string()).spawn(work).map(|_| ())
}

/// Hears what the first process wants. When its connection ends, this process has nothing more to do.
fn obey(socket: TcpStream, halt: &AtomicBool, asked: &Sender<Asked>) {
    let mut from = BufReader::new(socket);
    loop {
        let asked_now = match Message::receive(&mut from) {
            Ok(Message::Stop) => {
                halt.store(true, Ordering::Release);
                continue;
            }
            Ok(Message::Ask(state)) => Asked::Way(state),
            Ok(_) | Err(_) => {
                halt.store(true, Ordering::Release);
                let _ = asked.send(Asked::Leave);
                return;
            }
        };
        if asked.send(asked_now).is_err() {
            return;
        }
    }
}

/// Gives signs of life.
fn live(to: &Mutex<TcpStream>, board: &Board) {
    let send = || {
        let message = Message::Progress(board.own());
        message.send(&mut *to.lock().unwrap_or_else(PoisonError::into_inner))
    };
    while send().is_ok() {
        std::thread::sleep(BEAT);
    }
}

impl Member {
    /// Set when all are to stop.
    pub fn halt(&self) -> &AtomicBool {
        &self.halt
    }

    /// Tells why this process ended, and what it found; then answers which ways lead to its states, until the
    /// first process takes leave.
    pub fn serve(&self, stop: StopReason, found: Vec<u8>, way: &mut dyn FnMut(u64) -> Vec<u8>) {
        let send = |message: &Message| {
            message.send(&mut *self.to.lock().unwrap_or_else(PoisonError::into_inner)).is_ok()
        };
        let mut heard = send(&Message::Result { stop, found });
        while heard {
            heard = match self.asked.recv() {
                Ok(Asked::Way(state)) => send(&Message::Answer(way(state))),
                Ok(Asked::Leave) | Err(_) => false,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_disagrees_is_named() {
        let digest =
            |version: &str, program, options| Digest { version: version.to_string(), program, options };
        let own = digest("1", 1, 1);
        let about = |other: Digest| match agree(2, &own, &other) {
            Err(StartError::Disagreement(about)) => about,
            other => panic!("{other:?}"),
        };
        assert!(agree(2, &own, &own).is_ok());
        assert_eq!(
            about(digest("2", 1, 1)),
            "process 2 of the cluster is version 2 of this program, and not 1"
        );
        assert!(about(digest("1", 2, 1)).contains("another model"));
        assert!(about(digest("1", 1, 2)).contains("other options"));
    }

    #[test]
    fn strangers_are_not_let_in() {
        let ((listener, port), key) = (listen().unwrap(), [7; KEY]);
        // One who says nothing useful, one with a wrong secret, one who is nobody, and the one that is waited for.
        let introduction = |key: [u8; KEY], rank: u32| [&MAGIC[..], &key, &rank.to_le_bytes()].concat();
        let said = [
            b"GET / HTTP/1.1\r\nHost: localhost\r\n".to_vec(),
            introduction([8; KEY], 1),
            introduction(key, 5),
            introduction(key, 0),
            introduction(key, 1),
        ];
        let kept: Vec<TcpStream> = said
            .iter()
            .map(|said| {
                let mut socket = connect(port).unwrap();
                socket.write_all(said).unwrap();
                socket
            })
            .collect();
        let sockets = meet(&listener, (0, &[port, 1]), &key, &mut || Ok(())).unwrap();
        let other = sockets[1].as_ref().unwrap().peer_addr().unwrap();
        assert_eq!(other, kept[4].local_addr().unwrap());
        assert!(sockets[0].is_none());
    }
}
