//! Lines with their analyses given.
