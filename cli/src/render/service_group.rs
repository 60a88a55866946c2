//! `show serviceGroup`.

use jiff::tz::TimeZone;
use sluice_protocol::{ServiceGroupMember, ServiceGroupRow};

use super::layout::{option, push_parts};
use super::time::{age, ctime};
use super::vserver::comment;
use super::{drain, tcp_inline};

/// Adds a service group with the members that came with it. In the list form its head is numbered.
pub(crate) fn push(text: &mut String, head: &str, row: &ServiceGroupRow, zone: &TimeZone) {
    text.push_str(&format!("{head}{} - {}\n", row.name, row.service_type));
    for line in lines(row) {
        push_parts(text, &line);
    }
    for (index, member) in row.members.iter().flatten().enumerate() {
        push_member(text, index, member, zone);
    }
}

fn lines(row: &ServiceGroupRow) -> Vec<Vec<Option<String>>> {
    let part = |label: &str, key: &str| option(&row.settings, label, key);
    let seconds = |label: &str, key: &str| part(label, key).map(|part| part + " sec");
    vec![
        vec![
            Some(format!("State: {}", row.state)),
            Some(format!("Effective State: {}", row.effective_state)),
            part("Monitor Threshold : ", "monThreshold"),
        ],
        vec![
            part("Max Conn: ", "maxClient"),
            part("Max Req: ", "maxReq"),
            part("Max Bandwidth: ", "maxBandwidth").map(|part| part + " kbits"),
        ],
        vec![part("Use Source IP: ", "usip")],
        vec![part("Client Keepalive(CKA): ", "CKA")],
        vec![part("TCP Buffering(TCPB): ", "TCPB")],
        vec![part("HTTP Compression(CMP): ", "CMP")],
        vec![
            seconds("Idle timeout: Client: ", "cltTimeout"),
            seconds("Server: ", "svrTimeout"),
        ],
        vec![part("Client IP: ", "cip").map(|part| part + " ")],
        vec![part("Cacheable: ", "cacheable")],
        vec![part("SP: ", "sp")],
        vec![part("Down state flush: ", "downStateFlush")],
        vec![part("Monitor Connection Close : ", "monConnectionClose")],
        vec![comment(&row.settings)],
        vec![part("Appflow logging: ", "appflowLog")],
        vec![part("Process Local: ", "processLocal")],
        vec![part("Traffic Domain: ", "td")],
    ]
}

/// The hash identifier and the order are our own parts, printed where there are such.
fn push_member(text: &mut String, index: usize, member: &ServiceGroupMember, zone: &TimeZone) {
    let part = |label: &str, key: &str| option(&member.settings, label, key);
    let start = if index == 0 { "\n\n" } else { "\n" };
    text.push_str(start);
    let place = format!("{})    {}:{}", index + 1, member.address, member.port);
    let id = part("Server ID: ", "CustomServerID").map(|part| part.replace('"', ""));
    push_parts(
        text,
        &[
            Some(place),
            Some(format!(
                "State: {}",
                drain::state(&member.state, member.drain.as_ref())
            )),
            Some(format!("Server Name: {}", member.server)),
            id,
            part("Weight: ", "weight"),
            part("Hash Id: ", "hashId"),
            part("Order: ", "order"),
        ],
    );
    if let Some(own) = &member.drain {
        text.push_str(&format!("\t\t{}\n", drain::forecast(own)));
    }
    let since = ctime(member.state_change_unix_ms, zone);
    text.push_str(&format!(
        "\t\tLast state change was at {since} \n\t\tTime since last state change: {}\n",
        age(member.state_age_ms)
    ));
    if let Some(own) = &member.tcp_inline {
        tcp_inline::push_of_member(text, own);
    }
}
