//! The JSON Schema of the protocol. Printed by `agentctl schema`; a committed snapshot of it is
//! compared with the code by a test, so that the protocol can't drift unseen.

use crate::error::{ErrorBody, ErrorKind};
use crate::event::{SESSION_EVENT, SESSION_LAGGED, SessionEvent, SessionLagged};
use crate::methods::each_schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The whole schema: `methods`, `notifications`, `errors`, and the shapes that they share in `$defs`.
#[must_use]
pub fn protocol_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut methods = Map::new();
    each_schema(&mut generator, |name, params, result| {
        methods.insert(name.to_owned(), json!({"params": params, "result": result}));
    });
    let notifications = json!({
        SESSION_EVENT: generator.subschema_for::<SessionEvent>(),
        SESSION_LAGGED: generator.subschema_for::<SessionLagged>(),
    });
    let error = generator.subschema_for::<ErrorBody>();
    let errors: Map<String, Value> =
        ErrorKind::ALL.iter().map(|kind| (kind.word().to_owned(), Value::from(kind.code()))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agentd wire protocol",
        "version": crate::methods::PROTOCOL_VERSION,
        "methods": methods,
        "notifications": notifications,
        "error": error,
        "errorKinds": errors,
        "$defs": generator.take_definitions(true),
    })
}
