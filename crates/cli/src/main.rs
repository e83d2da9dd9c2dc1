//! Placeholder opened with the workspace.
fn main() {}
