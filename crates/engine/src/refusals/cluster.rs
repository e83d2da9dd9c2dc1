//! What several processes (`--cluster`) cannot do together.

use super::{Refusal, refusal};
use crate::files::STANDARD_INPUT;
use crate::options::{Choice, Engine, Exec, Por, Search};
use crate::plan::{Order, Plan};

/// More processes on one machine are a slip of the pen.
const MOST_PROCESSES: u64 = 64;

pub(super) fn of_none(plan: &Plan) -> Option<Refusal> {
    match plan.options.cluster? {
        0 => refusal("--cluster 0 leaves nobody to do the work", "use --cluster 2"),
        _ if !cfg!(unix) => refusal(
            "--cluster is made for Unix: it ends processes by their groups",
            "use --threads N, which shares one store",
        ),
        n if n > MOST_PROCESSES => refusal(
            format!("--cluster {n} is more than one machine has use for"),
            format!("use at most --cluster {MOST_PROCESSES}"),
        ),
        _ => None,
    }
}

pub(super) fn timeout_without_peers(plan: &Plan) -> Option<Refusal> {
    plan.options.peer_timeout.filter(|_| plan.options.cluster.is_none())?;
    refusal("--peer-timeout is about processes of a cluster", "add --cluster N, or leave it out")
}

/// What does not go with a cluster, why, and what to do instead; nothing: leave one of them out.
type Other = (String, &'static str, &'static str);

fn beside(n: u64, (other, why, repair): Other) -> Option<Refusal> {
    let instead = match repair {
        "" => format!("leave {other} or --cluster out"),
        repair => format!("{repair}, or leave --cluster out"),
    };
    refusal(format!("--cluster {n} cannot be used with {other}: {why}"), instead)
}

/// Processes search in order of discovery, and share what depends on a state alone.
pub(super) fn by_another_search(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let n = options.cluster?;
    let search = || format!("--search {}", plan.search.word());
    let by_state = plan.por == Por::None || plan.por.chooses_sets() && plan.static_proviso;
    let other = match () {
        () if plan.engine != Engine::Explicit => {
            (format!("--engine {}", plan.engine.word()), "processes go from state to state", "")
        }
        () if plan.exec == Exec::Packed => {
            ("--exec packed".into(), "packed states have a table of their own", "use --exec jit")
        }
        () if plan.threads > 1 => (
            format!("--threads {}", plan.threads),
            "each process has one worker",
            "give --cluster that number",
        ),
        () if options.sleep => ("--sleep".into(), "it needs the stack of one worker", ""),
        () if options.state_cache.is_some() => {
            ("--state-cache".into(), "it needs the stack of one worker", "")
        }
        () if plan.order != Order::Frontier || options.shorten => (
            if options.shorten { "--shorten".into() } else { search() },
            "processes expand states as they find them",
            "",
        ),
        () if !matches!(plan.search, Search::Frontier | Search::Auto) => {
            (search(), "cycles are searched by one process", "")
        }
        () if options.max_depth.is_some() => {
            ("--max-depth".into(), "processes do not count steps", "use --max-states, or --threads")
        }
        () if plan.store.is_lossy() => (
            format!("--store {}", plan.store.word()),
            "what one process loses others have left out",
            "use table, tree, cleary, collapse or automaton",
        ),
        () if !by_state => (
            format!("--por {}", plan.por.word()),
            "a process does not know what others have expanded, which the cycle proviso asks for",
            "add --proviso static to ample or stubborn, or leave --por out",
        ),
        () if options.stop_at.is_some() => {
            ("--stop-at".into(), "several do not find violations in one order", "use --all-errors")
        }
        () if plan.deterministic => (
            if options.seed.is_some() { "--seed" } else { "--deterministic" }.into(),
            "what is found first depends on timing",
            "",
        ),
        () => return None,
    };
    beside(n, other)
}

/// What is noted, written or asked in one process.
pub(super) fn with_what_stays(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let n = options.cluster?;
    let other = match () {
        () if options.max_switches.is_some() => {
            ("--max-switches".into(), "switches do not travel with states", "")
        }
        () if options.ranges => ("--ranges".into(), "values are noted in one process", ""),
        () if options.profile => ("--profile".into(), "counts are noted in one process", ""),
        () if options.certify.is_some() => {
            ("--certify".into(), "a certificate is written by one process", "")
        }
        () if options.checkpoint.is_some() => {
            ("--checkpoint".into(), "a search by several processes is not written down yet", "")
        }
        () if options.resume.is_some() => {
            ("--resume".into(), "a search by several processes is not written down yet", "")
        }
        () if options.disk.is_some() => ("--disk".into(), "states that wait go to a file in one process", ""),
        () if plan.doubts.any() => ("--check".into(), "what is doubted is compared in one process", ""),
        () if options.allow_c => ("--allow-c".into(), "what C keeps outside of states cannot travel", ""),
        () if plan.source.options.memory.is_some() => {
            ("--memory".into(), "whether a buffer was full is noted in one process", "")
        }
        () if plan.source.path == STANDARD_INPUT => {
            ("a model from standard input".into(), "every process reads it", "write the model to a file")
        }
        () => return None,
    };
    beside(n, other)
}
