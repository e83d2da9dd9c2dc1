//! Which statements were ever executed, for people: dead code shows as a statement that no run reaches.

/// A statement as it stands in the model, and whether it was executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// File, 1-based line and column.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The statement as written.
    pub text: String,
    /// Some process executed it.
    pub executed: bool,
}

/// The statements of one kind of process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// Its name.
    pub process: String,
    /// Some process of this kind existed.
    pub started: bool,
    /// Its statements in the order of the text; one that is expanded several times counts once.
    pub statements: Vec<Statement>,
}

impl Coverage {
    /// Statements that were never executed.
    pub fn unreached(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|statement| !statement.executed)
    }
}
