//! `spinor audit`.

use crate::args::{AuditArgs, Format};
use crate::output::{self, Lines};
use crate::signal::Signals;
use engine::audit::audit_certificate;
use engine::{Answer, DiskOrInput};

/// Confirms a certificate; returns the exit status.
pub fn run(args: &AuditArgs) -> u8 {
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let options = match args.options() {
        Ok(options) => options,
        Err(failure) => {
            return output::write_notices(Answer::<()>::failed(failure), args.format).err().unwrap_or(2);
        }
    };
    let answer = audit_certificate(&options, &files, signals.stop());
    let status = match output::write_notices(answer, args.format) {
        Ok(report) if args.format == Format::Json => {
            let text = output::json(&report.json(), Lines::Several);
            output::deliver_machine(&text, report.exit_status())
        }
        Ok(report) => output::deliver(&report.text(), report.exit_status()),
        Err(status) => status,
    };
    signals.status(status)
}
