//! `spinor explain`: what a code means, from the table of codes. `docs/diagnostics.md` is made here as well.

use crate::failure::Failure;
use promela::diagnostic::{Code, nearest};

/// What the code means at length.
pub fn explain(name: &str) -> Result<String, Failure> {
    match Code::of(name) {
        Some(code) => Ok(format!("{code}: {}\n\n{}", code.title(), code.explanation())),
        None => {
            let names = Code::ALL.iter().map(|code| code.name());
            let repair = match nearest(&name.to_ascii_uppercase(), names) {
                Some(near) => format!("did you mean `{near}`? `spinor explain` lists all codes"),
                None => "`spinor explain` lists all codes".to_string(),
            };
            Err(Failure::refused_with(format!("there is no code `{name}`"), repair))
        }
    }
}

/// All codes with their titles, one a line.
pub fn list() -> String {
    Code::ALL.iter().map(|code| format!("{code}  {}\n", code.title())).collect()
}

/// The text of `docs/diagnostics.md`.
pub fn document() -> String {
    let mut out = String::from(
        "# Diagnostics\n\nEvery code that Spinor reports, as `spinor explain CODE` shows it. Codes that begin with E are errors: the\n\
         model cannot be checked. Codes that begin with W are warnings. This file is made from the table of codes.\n",
    );
    for code in Code::ALL {
        out.push_str(&format!("\n## {code}: {}\n\n{}", code.title(), code.explanation()));
    }
    out
}
