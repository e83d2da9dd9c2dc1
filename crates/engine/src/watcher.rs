//! Who follows a check while it runs.

use crate::notice::Notice;
use search::{Observer, Silent};

/// Hears of the progress of searches and, before they begin, what the front end has to say about the model: a search may
/// take hours, and its author should not wait so long for a warning.
pub trait Watcher: Observer {
    /// Receives notices; what is returned is kept for the end.
    fn notices(&mut self, notices: Vec<Notice>) -> Vec<Notice> {
        notices
    }
}

impl Watcher for Silent {}
