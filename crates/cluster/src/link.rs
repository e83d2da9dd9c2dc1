//! A connection as timely has it: one that never fails before its eyes.
//!
//! Timely's threads panic when a connection ends early, and poison the queues of the worker. Whose connection
//! it was, and what that means for a verdict, it cannot know. So what goes wrong here is kept back: a thread
//! that reads waits until the search is over, what is written goes nowhere. That a process is lost is noticed
//! elsewhere ([`supervise`](crate::supervise)), and stops the search.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use timely::communication::allocator::zero_copy::stream::Stream;

/// Time between two looks whether the search is over.
const LOOK: Duration = Duration::from_millis(20);

/// A connection to another process.
pub(crate) struct Link {
    socket: TcpStream,
    /// The search is over.
    over: Arc<AtomicBool>,
}

impl Link {
    pub fn new(socket: TcpStream, over: Arc<AtomicBool>) -> Self {
        Link { socket, over }
    }

    /// Nothing more will come. The thread that waits for it ends with the search, without a word.
    fn ended(&self) -> ! {
        while !self.over.load(Ordering::Acquire) {
            std::thread::sleep(LOOK);
        }
        std::panic::resume_unwind(Box::new(()))
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.read(buffer) {
                Ok(n) if n > 0 => return Ok(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => self.ended(),
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.write(bytes) {
            Ok(n) if n > 0 => Ok(n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Ok(_) | Err(_) => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.socket.flush();
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Link { socket: self.socket.try_clone()?, over: Arc::clone(&self.over) })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let _ = self.socket.shutdown(how);
        Ok(())
    }
}
