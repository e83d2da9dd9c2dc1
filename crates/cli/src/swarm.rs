//! `spinor swarm`.

use crate::args::{Format, SwarmArgs};
use crate::output::{self, Lines};
use crate::signal::Signals;
use engine::saving::RealStorage;
use engine::swarm::{SwarmOptions, swarm};
use engine::trails::{self, TrailFiles};
use engine::{Answer, Client, DiskOrInput, Evidence, Failure, Flow, Kept, Observer, Plan, Session, Snapshot};

/// Lets a swarm search; returns the exit status.
pub fn run(args: &SwarmArgs) -> u8 {
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let begun = options(args).and_then(|options| {
        let trail = options.check.trail.clone();
        let trail = trail.unwrap_or_else(|| trails::default_name(&options.check.source.path));
        let source = Plan::new(&options.check)?.source;
        Ok((TrailFiles::new(&trail, &RealStorage)?, source, options))
    });
    let answer = match begun {
        Err(failure) => Answer::failed(failure),
        Ok((trails, source, options)) => {
            let opened = Session::open(&source, &files, signals.stop());
            match opened.result {
                Err(failure) => Answer { notices: opened.notices, result: Err(failure) },
                Ok(session) => swarm(&session, &options, signals.stop(), &mut Keeper(trails)),
            }
        }
    };
    let model = args.reading.source(&args.model).path;
    let status = match output::write_brief_notices(answer, args.format, &model, args.quiet) {
        Ok(found) if args.format == Format::Json => {
            output::deliver_machine(&output::json(&found.json(&model), Lines::Several), found.exit_status())
        }
        Ok(found) => {
            output::deliver(&found.text(&model, args.quiet, output::out_palette()), found.exit_status())
        }
        Err(status) => status,
    };
    signals.status(status)
}

fn options(args: &SwarmArgs) -> Result<SwarmOptions, Failure> {
    let check = engine::CheckOptions { source: args.reading.source(&args.model), ..args.given.options()? };
    SwarmOptions::of(check, args.cpus, args.time.as_deref(), args.memory.as_deref())
}

/// Keeps the counterexample of the search that found one.
struct Keeper(TrailFiles<'static>);

impl Observer for Keeper {
    fn progress(&mut self, _: &Snapshot) -> Flow {
        Flow::Continue
    }
}

impl Client for Keeper {
    fn model_files(&mut self, names: &[&str]) -> Result<(), Failure> {
        self.0.refuse_overwriting(names)
    }

    fn counterexample(&mut self, evidence: &Evidence) -> Kept {
        self.0.keep(evidence)
    }
}
