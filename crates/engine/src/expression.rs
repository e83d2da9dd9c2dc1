//! A Promela expression asked about in a state: read behind the model, whose macros and names it may use, and
//! lowered in the scope of a process.
//!
//! As with a formula of the command line, both are read as one text, a file that includes the model; the
//! expression is the only statement of a proctype at its end, which then is taken away again.

use crate::failure::Failure;
use crate::session::{Session, front_end_of};
use promela::ast::{Expr, Item, Step, StmtKind, Unit};
use promela::diagnostic::{Diagnostic, Severity};
use promela::source::{Files, SourceMap};
use promela::{ir, lower};

/// What the text of an expression is called where files are.
const EXPRESSION: &str = "<expression>";
/// The proctype that holds it.
const HOLDER: &str = "_expression_";
/// The longest text that is read.
const MOST_BYTES: usize = 4096;

struct Behind<'a> {
    text: String,
    files: &'a SourceMap,
}

impl Files for Behind<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == EXPRESSION { Ok(self.text.clone()) } else { self.files.read(path) }
    }
}

impl Session {
    /// Reads an expression as a process of `proctype` would, or as a claim does. The error is a sentence.
    pub fn expression(&self, text: &str, proctype: Option<&str>) -> Result<ir::Expr, String> {
        let path = &self.source.path;
        if text.trim().is_empty() || text.len() > MOST_BYTES || text.contains(char::is_control) {
            return Err("an expression is one line of text".to_string());
        }
        if text.contains(['{', '}']) {
            return Err("an expression has no braces".to_string());
        }
        if path.contains(['"', '\n']) {
            return Err(format!("expressions cannot be read behind a model that is called {path:?}"));
        }
        let text = format!("#include \"{path}\"\nproctype {HOLDER}() {{ ({text}\n) }}\n");
        let files = Behind { text, files: &self.sources };
        let mut sources = SourceMap::obeying(&self.stop);
        let read = front_end_of(&self.source, EXPRESSION, &files, &mut sources).map_err(said)?;
        let (mut unit, diagnostics) = read;
        if let Some(sentence) = first_error(&diagnostics) {
            return Err(sentence);
        }
        let expr = take_expression(&mut unit).ok_or("this is more than an expression")?;
        lower::expression(&unit, &expr, proctype, &sources)
            .map_err(|errors| first_error(&errors).unwrap_or_default())
    }
}

fn said(failure: Failure) -> String {
    failure.notice().map(|notice| notice.message).unwrap_or_default()
}

fn first_error(diagnostics: &[Diagnostic]) -> Option<String> {
    let first = diagnostics.iter().find(|d| d.severity() == Severity::Error)?;
    Some(match &first.help {
        Some(help) => format!("{} ({help})", first.message),
        None => first.message.clone(),
    })
}

/// The expression at the end of a unit, which then is the model again; `None` when there is something else.
fn take_expression(unit: &mut Unit) -> Option<Expr> {
    let is_holder = |item: &Item| matches!(item, Item::Proctype(p) if &*p.name.name == HOLDER);
    let Some(Item::Proctype(mut holder)) =
        unit.items.iter().position(is_holder).map(|at| unit.items.remove(at))
    else {
        return None;
    };
    let step = holder.body.steps.pop()?;
    let alone = holder.body.steps.is_empty() && !unit.items.iter().any(is_holder);
    match step {
        Step::Stmt(statement) if alone => match statement.kind {
            StmtKind::Expr(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::options::Source;
    use crate::session::Session;
    use promela::source::Files;
    use stop::Stop;

    struct Model;

    impl Files for Model {
        fn read(&self, _: &str) -> Result<String, String> {
            let text = "#define BOTH (x + y)\nmtype = { red, green };\nmtype light = green;\nbyte x = 3;\n\
                        active proctype p() { byte y = 4; x = BOTH }\nactive proctype q() { skip }\n";
            Ok(text.to_string())
        }
    }

    fn value(text: &str, proctype: Option<&str>, pid: Option<u32>) -> Result<String, String> {
        let source = Source { path: "m.pml".to_string(), ..Source::default() };
        let session = Session::load(&source, &Model, &Stop::never()).unwrap();
        let machine = session.machine().unwrap();
        let mut state = Vec::new();
        system::TransitionSystem::initial(&machine, &mut state).unwrap();
        let expr = session.expression(text, proctype)?;
        machine.evaluate(&state, pid, &expr).map(|value| value.to_string())
    }

    #[test]
    fn expressions_have_values_in_the_scope_of_a_process() {
        assert_eq!(value("BOTH * 2", Some("p"), Some(0)).unwrap(), "14");
        assert_eq!(value("x == 3 && light == green", None, None).unwrap(), "true");
        assert_eq!(value("light", None, None).unwrap(), "green");
        assert_eq!(value("_pid", Some("q"), Some(1)).unwrap(), "1");
        assert_eq!(value("p[0]:y", None, None).unwrap(), "4");
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        assert!(value("y", None, None).unwrap_err().contains("`y`"));
        for wrong in ["", "x = 4", "1); (2", "1) } proctype z() { (1", "run q()", "x ==", "1\n#define x 2"] {
            assert!(value(wrong, Some("p"), Some(0)).is_err(), "{wrong}");
        }
        assert!(value("1 / (x - 3)", None, None).unwrap_err().contains("zero"));
        assert!(value("x", Some("p"), Some(7)).is_err());
    }
}
