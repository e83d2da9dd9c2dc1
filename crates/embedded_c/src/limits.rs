//! What keeps a process that runs C from doing more than it should: accidents, not attacks.
//!
//! On Linux it cannot start another process or program (a filter of system calls, with threads allowed; where
//! there are no filters, a limit on processes, which binds threads as well, and does not bind root), and it ends
//! with its supervisor. On other systems nothing keeps it from either. On Unix it leaves no core file. What C
//! does with files and with the memory of its own process is not kept from it.

#![allow(unsafe_code, reason = "the system is asked for limits")]

/// Sets the limits of this process, for good. What the system does not know is left out.
#[cfg(unix)]
pub fn accept() {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is read, nothing else happens.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &no_core) };
    // SAFETY: an abort ends the process again, and what the checker says of one of its own is not said: here it
    // is one of C.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
    #[cfg(target_os = "linux")]
    linux::accept();
}

/// There is nothing to ask.
#[cfg(not(unix))]
pub fn accept() {}

/// Sends a signal to a process that was started here.
#[cfg(unix)]
pub fn send(pid: u32, signal: i32) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Processes cannot be told anything.
#[cfg(not(unix))]
pub fn send(_: u32, _: i32) {}

/// The name of a signal and what it means; empty for those that C does not usually raise.
#[cfg(unix)]
pub fn signal_name(signal: u32) -> (&'static str, &'static str) {
    match signal as i32 {
        libc::SIGSEGV => ("SIGSEGV", "it uses memory that is not its own"),
        libc::SIGBUS => ("SIGBUS", "it uses memory that is not there"),
        libc::SIGABRT => ("SIGABRT", "it aborts"),
        libc::SIGFPE => ("SIGFPE", "a division by zero, or one that overflows"),
        libc::SIGILL => ("SIGILL", "an instruction that does not exist"),
        libc::SIGTRAP => ("SIGTRAP", "a trap"),
        libc::SIGKILL => ("SIGKILL", "it was killed"),
        libc::SIGALRM => ("SIGALRM", "an alarm that it set"),
        libc::SIGSYS => ("SIGSYS", "a system call that is not allowed"),
        _ => ("", ""),
    }
}

/// Signals are unknown here.
#[cfg(not(unix))]
pub fn signal_name(_: u32) -> (&'static str, &'static str) {
    ("", "")
}

#[cfg(target_os = "linux")]
mod linux {
    use libc::{
        BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
        SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, c_ulong, sock_filter, sock_fprog,
    };

    fn load(at: u32) -> sock_filter {
        sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: at }
    }

    fn when(kind: u32, k: u32, skip_if: u8, skip_else: u8) -> sock_filter {
        sock_filter { code: (BPF_JMP | kind | BPF_K) as u16, jt: skip_if, jf: skip_else, k }
    }

    fn answer(k: u32) -> sock_filter {
        sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k }
    }

    /// Where a filter is shown the number of a call, the processor, and the first argument.
    const NUMBER: u32 = 0;
    const PROCESSOR: u32 = 4;
    const ARGUMENT: u32 = 16;
    /// On x86-64 alone there are `fork` and `vfork`, with these numbers.
    const X86_64: u32 = 0xc000_003e;
    const FORKS: [u32; 2] = [57, 58];

    /// The filter: `clone` only for threads, `clone3` as if there were none (so that libraries fall back on
    /// `clone`), no other way to a new process or program.
    fn filter() -> Vec<sock_filter> {
        let kill = || answer(SECCOMP_RET_KILL_PROCESS);
        let mut rules = vec![load(PROCESSOR), when(BPF_JEQ, X86_64, 0, 5), load(NUMBER)];
        rules.extend(FORKS.into_iter().flat_map(|call| [when(BPF_JEQ, call, 0, 1), kill()]));
        rules.push(load(NUMBER));
        for call in [libc::SYS_execve, libc::SYS_execveat] {
            rules.extend([when(BPF_JEQ, call as u32, 0, 1), kill()]);
        }
        let no_such_call = SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        rules.extend([when(BPF_JEQ, libc::SYS_clone3 as u32, 0, 1), answer(no_such_call)]);
        rules.extend([
            when(BPF_JEQ, libc::SYS_clone as u32, 0, 3),
            load(ARGUMENT),
            when(BPF_JSET, libc::CLONE_THREAD as u32, 1, 0),
            kill(),
            answer(SECCOMP_RET_ALLOW),
        ]);
        rules
    }

    /// All threads of the process obey the filter from now on.
    pub fn accept() {
        const SET_MODE_FILTER: c_ulong = 1;
        const ALL_THREADS: c_ulong = 1;
        let mut rules = filter();
        let program = sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
        // SAFETY: numbers, and a program that the system copies while the call lasts.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong, 0, 0, 0);
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong);
            let set = libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, ALL_THREADS, &program);
            if set != 0 {
                // Without filters, the number of processes that this user has is limited.
                let few = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_NPROC, &few);
            }
        }
    }
}
