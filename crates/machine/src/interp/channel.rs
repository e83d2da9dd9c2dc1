//! Channels: which one an expression means, which message a receive takes, where a sorted send inserts.

use std::cmp::Ordering;

use promela::ir::{ChanType, ChanTypeId, Expr, Program, RecvArg};
use promela::source::Span;

use super::eval::View;
use super::fault::{Outcome, runtime};
use super::state::{Channel, State};

/// As many channels as Spin allows.
pub(super) const MAX_CHANNELS: usize = 255;

impl View<'_> {
    /// The index of the channel whose number an expression gives.
    pub fn channel(&self, chan: &Expr) -> Outcome<usize> {
        let number = self.eval(chan)?;
        if number == 0 {
            let message = match self.is_standard_input(chan) {
                true => "standard input (STDIN) can be read in a simulation only, and not inside d_step",
                false => "the channel is not initialised",
            };
            return runtime(chan.span, message);
        }
        match usize::try_from(number) {
            Ok(number) if number <= self.state.channels.len() => Ok(number - 1),
            _ => runtime(chan.span, format!("channel {number} does not exist (any more)")),
        }
    }

    /// The channel that an expression gives, where only its messages matter: a channel that is gone with its
    /// process is none, and looks empty.
    pub fn channel_if_alive(&self, chan: &Expr) -> Outcome<Option<usize>> {
        let number = self.eval(chan)?;
        if usize::try_from(number).is_ok_and(|number| number > self.state.channels.len()) {
            return Ok(None);
        }
        self.channel(chan).map(Some)
    }

    fn chan_type(&self, index: usize) -> &ChanType {
        &self.program.chan_types[self.state.channels[index].ty.index()]
    }

    /// Whether the channel passes messages from hand to hand.
    pub fn is_rendezvous(&self, index: usize) -> bool {
        self.chan_type(index).capacity == 0
    }

    /// Whether the channel cannot take another message. A rendezvous channel is full while a message is on
    /// offer.
    pub fn is_full(&self, index: usize) -> bool {
        self.state.channels[index].len >= self.chan_type(index).capacity.max(1) as usize
    }

    /// The number of the message that a receive with these arguments takes.
    pub fn find_message(
        &self,
        index: usize,
        random: bool,
        args: &[RecvArg],
        span: Span,
    ) -> Outcome<Option<usize>> {
        let len = self.state.channels[index].len;
        let candidates = if random { len } else { len.min(1) };
        for slot in 0..candidates {
            if self.matches(index, slot, args, span)? {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Whether message number `slot` has the fields that `args` ask for.
    pub fn matches(&self, index: usize, slot: usize, args: &[RecvArg], span: Span) -> Outcome<bool> {
        for (i, arg) in args.iter().enumerate() {
            if let RecvArg::Match(expr) = arg
                && self.eval(expr)? != self.field(index, slot, i, span)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A field of a message. Reading beyond the last field is an error; only where a message has one field,
    /// Spin reads 0 instead.
    pub fn field(&self, index: usize, slot: usize, field: usize, span: Span) -> Outcome<i32> {
        let width = self.chan_type(index).fields.len();
        if field >= width {
            return if width == 1 { Ok(0) } else { runtime(span, too_many(width)) };
        }
        Ok(self.state.channels[index].fields.get(slot * width + field).copied().unwrap_or(0))
    }
}

fn too_many(width: usize) -> String {
    format!("more message fields than the channel has ({width})")
}

/// Checks the number of fields of a send, or of a receive that takes the message.
pub(super) fn check_arity(given: usize, ty: &ChanType, span: Span) -> Outcome<()> {
    let width = ty.fields.len();
    match given.cmp(&width) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => runtime(span, too_many(width)),
        Ordering::Less => runtime(span, format!("fewer message fields than the channel has ({width})")),
    }
}

/// Puts a message into a channel: at the end, or before the first message that is greater. The values that
/// were sent are compared, not what remains of them after truncation. Returns how many messages are before
/// it.
pub(super) fn put_message(
    program: &Program,
    channel: &mut Channel,
    message: &mut [i32],
    sorted: bool,
) -> usize {
    let types = &program.chan_types[channel.ty.index()].fields;
    let slot = if sorted && !message.is_empty() {
        let greater = |stored: &[i32]| *message < *stored;
        channel.fields.chunks(message.len()).position(greater).unwrap_or(channel.len)
    } else {
        channel.len
    };
    for (value, ty) in message.iter_mut().zip(types) {
        *value = ty.truncate(*value);
    }
    channel.insert(slot, message);
    slot
}

/// Creates a channel and gives its number.
pub(super) fn create(state: &mut State, ty: ChanTypeId, span: Span) -> Outcome<i32> {
    if state.channels.len() >= MAX_CHANNELS {
        return runtime(span, format!("too many channels: there can be {MAX_CHANNELS}"));
    }
    state.channels.push(Channel::new(ty));
    Ok(state.channels.len() as i32)
}
