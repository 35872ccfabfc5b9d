//! L1: what the model is told beside the transcript: system prompt and environment.
