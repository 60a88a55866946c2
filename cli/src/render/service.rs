//! `show service`.

use jiff::tz::TimeZone;
use sluice_protocol::ServiceRow;

use super::layout::{option, push_parts};
use super::time::{age, ctime};
use super::vserver::comment;
use super::{drain, tcp_inline};

/// Adds a service; the list form differs in its head only.
pub(crate) fn push(text: &mut String, head: &str, row: &ServiceRow, zone: &TimeZone) {
    text.push_str(&format!(
        "{head}{} ({}:{}) - {}\n",
        row.name, row.address, row.port, row.service_type
    ));
    for line in lines(row, zone) {
        push_parts(text, &line);
    }
    if let Some(own) = &row.tcp_inline {
        tcp_inline::push(text, 1, own);
    }
}

fn lines(row: &ServiceRow, zone: &TimeZone) -> Vec<Vec<Option<String>>> {
    let part = |label: &str, key: &str| option(&row.settings, label, key);
    let seconds = |label: &str, key: &str| part(label, key).map(|part| part + " sec");
    vec![
        vec![Some(format!(
            "State: {}",
            drain::state(&row.state, row.drain.as_ref())
        ))],
        vec![row.drain.as_ref().map(drain::forecast)],
        vec![row.drain.as_ref().and_then(drain::clients)],
        vec![Some(format!(
            "Last state change was at {}",
            ctime(row.state_change_unix_ms, zone)
        ))],
        vec![Some(format!(
            "Time since last state change: {}",
            age(row.state_age_ms)
        ))],
        vec![Some(format!("Server Name: {}", row.server))],
        vec![server_id(row), part("Monitor Threshold : ", "monThreshold")],
        vec![
            part("Max Conn: ", "maxClient"),
            part("Max Req: ", "maxReq"),
            part("Max Bandwidth: ", "maxBandwidth").map(|part| part + " kbits"),
        ],
        vec![part("Use Source IP: ", "usip")],
        vec![part("Client Keepalive(CKA): ", "CKA")],
        vec![part("Access Down Service: ", "accessDown")],
        vec![part("TCP Buffering(TCPB): ", "TCPB")],
        vec![part("HTTP Compression(CMP): ", "CMP")],
        vec![
            seconds("Idle timeout: Client: ", "cltTimeout"),
            seconds("Server: ", "svrTimeout"),
        ],
        vec![part("Client IP: ", "cip")],
        vec![part("Cacheable: ", "cacheable")],
        vec![part("SP: ", "sp")],
        vec![part("Down state flush: ", "downStateFlush")],
        vec![part("Hash Id: ", "hashId")],
        vec![comment(&row.settings)],
        vec![part("Appflow logging: ", "appflowLog")],
        vec![part("Process Local: ", "processLocal")],
        vec![part("Traffic Domain: ", "td")],
    ]
}

/// The saved form of the default is the word in quotes of its own, which the device does not show.
fn server_id(row: &ServiceRow) -> Option<String> {
    let id = row.settings.get("CustomServerID")?;
    Some(format!("Server ID : {} ", id.trim_matches('"')))
}
