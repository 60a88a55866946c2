//! Answers as JSON documents, for scripts.
//!
//! One document per command, on one line. `show` and `stat` of a server, service, serviceGroup or lb vserver: an
//! array of objects, also when one was asked for by name; the field names are those of the rows in
//! `sluice_protocol` and stay. `show ns config` and `show lb parameter`: one object. `show ns runningConfig` and other
//! text: an array of lines. Numbers are exact integers up to 2^64 - 1.

use serde_json::Value;
use sluice_protocol::Row;

use crate::escape::escape_json;

/// Returns the document for an answer, its line ended.
pub(crate) fn document(rows: &[Row]) -> String {
    let document = match rows {
        [row @ (Row::Config(_) | Row::Parameter(_))] => value(row),
        rows => Value::Array(rows.iter().map(value).collect()),
    };
    format!("{}\n", escape_json(&document.to_string()))
}

fn value(row: &Row) -> Value {
    let value = match row {
        Row::Name(text) | Row::Line(text) => Ok(Value::from(text.as_str())),
        Row::Server(row) => serde_json::to_value(row),
        Row::Service(row) => serde_json::to_value(row),
        Row::Vserver(row) => serde_json::to_value(row),
        Row::ServiceStat(row) => serde_json::to_value(row),
        Row::VserverStat(row) => serde_json::to_value(row),
        Row::UdpStat(row) => serde_json::to_value(row),
        Row::Group(row) => serde_json::to_value(row),
        Row::Profile(row) => serde_json::to_value(row),
        Row::PersistentSession(row) => serde_json::to_value(row),
        Row::Connection(row) => serde_json::to_value(row),
        Row::ExplainVserver(row) => serde_json::to_value(row),
        Row::ExplainService(row) => serde_json::to_value(row),
        Row::ExplainOutcome(row) => serde_json::to_value(row),
        Row::Parameter(row) => serde_json::to_value(row),
        Row::Config(row) => serde_json::to_value(row),
        Row::ServiceGroup(row) => serde_json::to_value(row),
        Row::ServiceGroupStat(row) => serde_json::to_value(row),
        Row::ServiceGroupBinding(row) => serde_json::to_value(row),
    };
    value.expect("a row is plain data with text keys")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_protocol::{ConfigStatus, ServerRow};

    fn server(name: &str) -> Row {
        Row::Server(ServerRow {
            name: name.to_owned(),
            address: "10.0.0.1".to_owned(),
            state: "ENABLED".to_owned(),
            comment: None,
            services: Vec::new(),
        })
    }

    #[test]
    fn objects_are_an_array_even_when_there_are_none_or_one() {
        assert_eq!(document(&[]), "[]\n");
        let one = document(&[server("a\u{9b}\n")]);
        assert_eq!(
            one,
            "[{\"address\":\"10.0.0.1\",\"comment\":null,\"name\":\"a\\u009b\\n\",\
             \"services\":[],\"state\":\"ENABLED\"}]\n"
        );
    }

    #[test]
    fn the_configuration_is_one_object_and_lines_are_an_array() {
        let status = Row::Config(ConfigStatus {
            path: "/x".to_owned(),
            system_unix_ms: u64::MAX,
            changed_unix_ms: None,
            saved_unix_ms: Some(2),
            unsaved: true,
            boot_failures: Vec::new(),
            skipped: std::collections::BTreeMap::new(),
            provisional_s: Some(7),
            not_undone: Vec::new(),
        });
        let parsed: Value = serde_json::from_str(&document(&[status])).unwrap();
        assert_eq!(parsed["system_unix_ms"], Value::from(u64::MAX));
        assert_eq!(parsed["unsaved"], Value::Bool(true));
        let lines = [Row::Line("add server a 1.1.1.1".to_owned())];
        let text = document(&lines);
        assert_eq!(text, "[\"add server a 1.1.1.1\"]\n");
    }
}
