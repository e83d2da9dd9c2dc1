//! Blocks and the names they hold.
//!
//! Spin's rule (6.0 and later): every pair of braces is a scope; a name is visible in its scope and those
//! inside. There is no shadowing: declaring a name that is visible already is an error.

use std::collections::HashMap;
use std::sync::Arc;

/// A block, identified by its nesting: `parent` chains are kept beside the id so that `within` needs no
/// table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScopeId(Arc<ScopeNode>);

#[derive(PartialEq, Eq, Debug)]
struct ScopeNode {
    id: u32,
    depth: u32,
    parent: Option<ScopeId>,
}

impl ScopeId {
    /// The scope of a proctype's parameters.
    pub fn root() -> Self {
        ScopeId(Arc::new(ScopeNode { id: 0, depth: 0, parent: None }))
    }

    /// A number that no other block of the proctype has.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Whether `self` is `outer` or lies inside it.
    pub fn within(&self, outer: &ScopeId) -> bool {
        let mut at = self;
        while at.0.depth > outer.0.depth {
            match &at.0.parent {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        at.0.id == outer.0.id
    }
}

/// The blocks of one proctype and what is declared in them.
#[derive(Debug)]
pub struct Scopes<T> {
    current: ScopeId,
    next_id: u32,
    names: HashMap<Arc<str>, Vec<(ScopeId, T)>>,
}

impl<T> Scopes<T> {
    /// Only the outermost scope, empty.
    pub fn new() -> Self {
        Scopes { current: ScopeId::root(), next_id: 1, names: HashMap::new() }
    }

    /// Enters a block.
    pub fn enter(&mut self) {
        let depth = self.current.0.depth + 1;
        let node = ScopeNode { id: self.next_id, depth, parent: Some(self.current.clone()) };
        self.next_id += 1;
        self.current = ScopeId(Arc::new(node));
    }

    /// Leaves the innermost block.
    pub fn leave(&mut self) {
        if let Some(parent) = self.current.0.parent.clone() {
            self.current = parent;
        }
    }

    /// The innermost block.
    pub fn current(&self) -> &ScopeId {
        &self.current
    }

    /// The visible declaration of `name`, latest first.
    pub fn find(&self, name: &str) -> Option<&(ScopeId, T)> {
        self.names.get(name)?.iter().rev().find(|(scope, _)| self.current.within(scope))
    }

    /// Declares `name` in the innermost block.
    pub fn declare(&mut self, name: Arc<str>, value: T) {
        self.names.entry(name).or_default().push((self.current.clone(), value));
    }
}
