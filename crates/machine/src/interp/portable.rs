//! Portable states of the reference machine: its bytes describe themselves, so they are copied; what is read
//! is validated.

use promela::ir::{Program, Scalar, print};
use system::portable::{LocalShape, PortableError, PortableStates, StableHash};

use super::layout::cell_scalars;
use super::state::{Channel, State};
use super::{Interp, codec};

/// Changes when the codec does.
const FORMAT: u64 = 0x7265_6665_7265_0001;
/// The only shape.
const SHAPE: LocalShape = LocalShape(0);

/// A hash of all that the states of a program depend on: everything but where it was written.
pub fn fingerprint(program: &Program) -> u64 {
    let text = print::print_without_spans(program);
    // The first line is the name of the file.
    let (_, text) = text.split_once('\n').unwrap_or_default();
    StableHash::new(0).bytes(text.as_bytes()).finish()
}

impl PortableStates for Interp {
    fn fingerprint(&self) -> u64 {
        StableHash::new(FORMAT).word(fingerprint(&self.program)).finish()
    }

    fn describe(&self, shape: LocalShape, _out: &mut Vec<u8>) -> Result<(), PortableError> {
        if shape == SHAPE { Ok(()) } else { Err(PortableError::UnknownShape(shape.0)) }
    }

    fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError> {
        match description {
            [] => Ok(SHAPE),
            _ => Err(PortableError::BadShape("states describe themselves".to_string())),
        }
    }

    fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError> {
        self.validate(state)?;
        out.extend_from_slice(state);
        Ok(SHAPE)
    }

    fn import(&self, shape: LocalShape, contents: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError> {
        self.describe(shape, &mut Vec::new())?;
        self.validate(contents)?;
        out.extend_from_slice(contents);
        Ok(())
    }
}

impl Interp {
    /// Whether bytes are a state: the codec reads them, and every value is one that its variable can have.
    fn validate(&self, bytes: &[u8]) -> Result<(), PortableError> {
        let mut state = State::default();
        codec::decode(&self.program, &self.layout, bytes, &mut state)
            .map_err(|why| PortableError::BadContents(why.to_string()))?;
        let globals = cell_scalars(&self.program, &self.program.globals, self.program.n_global_cells);
        let locals = state.processes.iter().flat_map(|p| &self.layout.processes[p.proctype.index()].scalars);
        let fits = fit(&globals, &state.globals)
            && locals.zip(&state.locals).all(|(scalar, &value)| scalar.truncate(value) == value)
            && state.channels.iter().all(|channel| self.messages_fit(channel));
        match fits {
            true => Ok(()),
            false => Err(PortableError::BadContents("a value that its variable cannot have".to_string())),
        }
    }

    fn messages_fit(&self, channel: &Channel) -> bool {
        let fields = &self.program.chan_types[channel.ty.index()].fields;
        debug_assert_eq!(channel.fields.len(), channel.len * fields.len());
        channel.fields.chunks(fields.len().max(1)).all(|message| fit(fields, message))
    }
}

/// Whether each value is one that a variable of its type can have.
fn fit(scalars: &[Scalar], values: &[i32]) -> bool {
    scalars.iter().zip(values).all(|(scalar, &value)| scalar.truncate(value) == value)
}
