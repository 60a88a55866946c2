//! `show lb parameter`.
//!
//! The title and the labels of the port in hashes and of the HttpOnly flag are the reference's; the
//! others are as close to its terms as is known. The lines of TCP-INLINE and of connects, and the last
//! two, the state of the persistence table, are our own. A passphrase is not shown.

use sluice_protocol::ParameterRow;

use super::layout::{option, push_parts};

/// Adds what holds for all virtual servers.
pub(crate) fn push(text: &mut String, row: &ParameterRow) {
    text.push_str("Global LB parameters:\n");
    for (key, label) in LABELS {
        push_parts(text, &[option(&row.settings, label, key)]);
    }
    let ttl = option(&row.settings, "TTL for Domain Based Server: ", "dbsttl");
    push_parts(text, &[ttl.map(|line| line + " secs")]);
    for parts in own(row) {
        push_parts(text, &parts);
    }
    let table = &row.persistence;
    for (label, number) in [
        ("Sessions Threshold", table.sessions_max),
        ("Current Persistence Sessions", table.sessions),
        ("Hits without Session, Table Full", table.table_full),
    ] {
        push_parts(text, &[Some(format!("{label}: {number}"))]);
    }
}

/// Returns what the reference has not.
fn own(row: &ParameterRow) -> [Vec<Option<String>>; 5] {
    let part = |label: &str, key: &str| option(&row.settings, label, key);
    let seconds = |label: &str, key: &str| part(label, key).map(|part| part + " secs");
    let sample = part("of the last ", "tcpInlineSample").unwrap_or_default();
    [
        vec![part("TCP-INLINE: ", "tcpInline")],
        vec![
            part("TCP-INLINE Retries: ", "tcpInlineRetries"),
            part("Share: ", "tcpInlineShare").map(|share| format!("{share} % {sample}")),
        ],
        vec![seconds(
            "TCP-INLINE Response Timeout: ",
            "tcpInlineResptimeout",
        )],
        vec![
            seconds("TCP-INLINE Down Time: ", "tcpInlineDownTime"),
            seconds("Maximum: ", "tcpInlineMaxDownTime"),
        ],
        vec![part("Connect Tries: ", "connectTries")],
    ]
}

const LABELS: [(&str, &str); 21] = [
    ("httpOnlyCookieFlag", "Persistence Cookie HttpOnly Flag: "),
    (
        "useEncryptedPersistenceCookie",
        "Use Encrypted Persistence Cookie: ",
    ),
    (
        "useSecuredPersistenceCookie",
        "Use Secured Persistence Cookie: ",
    ),
    ("usePortForHashLb", "Use port for hash LB: "),
    ("lbHashAlgorithm", "LB Hash Algorithm: "),
    ("lbHashFingers", "LB Hash Fingers: "),
    ("preferDirectRoute", "Prefer direct route: "),
    ("retainservicestate", "Retain Service State: "),
    ("startupRRFactor", "Start RR factor: "),
    ("monitorSkipMaxClient", "Skip Maxclient for Monitoring: "),
    ("monitorConnectionClose", "Monitor Connection Close: "),
    (
        "consolidatedLConn",
        "Use consolidated stats for LeastConnection: ",
    ),
    ("vServerSpecificMac", "Vserver Specific MAC: "),
    ("allowBoundSvcRemoval", "Allow bound service removal: "),
    ("maxPipelineNat", "Max Pipeline NAT: "),
    ("proximityFromSelf", "Proximity From Self: "),
    ("undefAction", "Undef Action: "),
    (
        "literalADCCookieAttribute",
        "Literal ADC Cookie Attribute: ",
    ),
    (
        "computedADCCookieAttribute",
        "Computed ADC Cookie Attribute: ",
    ),
    (
        "storeMqttClientIdAndUsername",
        "Store MQTT ClientId And Username: ",
    ),
    ("dropMqttJumboMessage", "Drop MQTT Jumbo Message: "),
];
