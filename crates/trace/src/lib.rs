//! Placeholder opened with the workspace.
