//! `show lb vserver`.

use jiff::tz::TimeZone;
use sluice_protocol::{BoundService, SlowStart, VserverRow};
use std::collections::BTreeMap;

use super::layout::{option, push_parts};
use super::time::{age, ctime};

/// Adds a virtual server and, when it was asked for alone, its bound services.
pub(crate) fn push(text: &mut String, head: &str, row: &VserverRow, zone: &TimeZone) {
    let (name, address, port) = (&row.name, &row.address, &row.port);
    text.push_str(&format!(
        "{head}{name} ({address}:{port}) - {}\tType: ADDRESS \n",
        row.service_type,
    ));
    for line in lines(row, zone) {
        push_parts(text, &line);
    }
    for (index, service) in row.bound.iter().flatten().enumerate() {
        push_bound(text, index, service);
    }
}

fn lines(row: &VserverRow, zone: &TimeZone) -> Vec<Vec<Option<String>>> {
    let settings = &row.settings;
    let line = |label: &str, key: &str| vec![option(settings, label, key)];
    vec![
        vec![Some(format!("State: {}", row.state))],
        vec![Some(format!(
            "Last state change was at {}",
            ctime(row.state_change_unix_ms, zone)
        ))],
        vec![Some(format!(
            "Time since last state change: {}",
            age(row.state_age_ms)
        ))],
        vec![Some(effective_state(row))],
        vec![option(settings, "Client Idle Timeout: ", "cltTimeout").map(|line| line + " sec")],
        line("Down state flush: ", "downStateFlush"),
        line("Disable Primary Vserver On Down : ", "disablePrimaryOnDown"),
        vec![comment(settings)],
        line("Appflow logging: ", "appflowLog"),
        vec![
            Some(format!(
                "No. of Bound Services :  {} (Total) ",
                row.services_total
            )),
            Some(format!(" {} (Active)", row.services_active)),
        ],
        method(settings),
        hash_masks(settings),
        vec![Some("Mode: IP".to_owned())],
        persistence(settings),
        vec![
            row.group
                .as_ref()
                .map(|group| format!("Persistence Group: {group}")),
        ],
        line("Connection Failover: ", "connFailover"),
        line("L2Conn: ", "l2Conn"),
        line("Skip Persistency: ", "skippersistency"),
        vec![slow_start(settings)],
        line("TROFS Persistence honored: ", "trofsPersistence"),
    ]
}

fn effective_state(row: &VserverRow) -> String {
    let has_address = row.address != "0.0.0.0";
    let arp = if has_address { "" } else { "  ARP:DISABLED" };
    format!("Effective State: {}{arp}", row.effective_state)
}

/// Returns the comment in quotes, which is how the device tells an empty one from none.
pub(crate) fn comment(settings: &BTreeMap<String, String>) -> Option<String> {
    settings
        .get("comment")
        .filter(|comment| !comment.is_empty())
        .map(|comment| format!("Comment: \"{comment}\""))
}

fn method(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    let Some(method) = settings.get("lbMethod") else {
        return Vec::new();
    };
    let backup = match settings.get("backupLBMethod") {
        _ if method == "ROUNDROBIN" => "NONE",
        Some(backup) => backup,
        None => "ROUNDROBIN",
    };
    vec![
        Some(format!("Configured Method: {method}")),
        Some(format!("BackupMethod: {backup}")),
    ]
}

/// What is hashed of an address: a line of our own, with the methods that look at one.
fn hash_masks(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    match settings.get("lbMethod").map(String::as_str) {
        Some("SOURCEIPHASH" | "DESTINATIONIPHASH") => vec![
            option(settings, "Netmask: ", "netmask"),
            option(settings, "v6 Netmask Length: ", "v6netmasklen"),
        ],
        Some(_) | None => Vec::new(),
    }
}

/// The mask length for IPv6 is our own part, printed when it is not that of whole addresses.
pub(crate) fn persistence(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    let kind = option(settings, "Persistence: ", "persistenceType");
    if settings
        .get("persistenceType")
        .is_none_or(|kind| kind == "NONE")
    {
        return vec![kind];
    }
    let v6 = option(settings, "Persistence v6MaskLength: ", "v6persistmasklen");
    vec![
        kind,
        option(settings, "Persistence Mask: ", "persistMask"),
        v6.filter(|_| {
            settings
                .get("v6persistmasklen")
                .is_some_and(|length| length != "128")
        }),
        option(settings, "Persistence Timeout: ", "timeout").map(|part| part + " min"),
    ]
}

/// The unit is a setting of its own; where it is not, it is the second word of the rate.
fn slow_start(settings: &BTreeMap<String, String>) -> Option<String> {
    let rate = settings.get("newServiceRequest")?;
    let unit = settings
        .get("newServiceRequestUnit")
        .map_or("PER_SECOND", String::as_str);
    let (rate, unit) = rate.split_once(' ').unwrap_or((rate, unit));
    let interval = settings
        .get("newServiceRequestIncrementInterval")
        .map_or("0", String::as_str);
    Some(format!(
        "New Service Startup Request Rate: {rate} {unit}, Increment Interval: {interval}"
    ))
}

fn push_bound(text: &mut String, index: usize, service: &BoundService) {
    text.push_str(&format!(
        "{}) {} ({}: {}) - {} State: {}\tWeight: {}\n",
        index + 1,
        service.name,
        service.address,
        service.port,
        service.service_type,
        service.state,
        service.weight
    ));
    if let Some(ramp) = &service.slow_start {
        text.push_str(&format!("\tSlow start: {}\n", slow_start_now(ramp)));
    }
}

/// Says in one line how a new service is brought in.
pub(crate) fn slow_start_now(ramp: &SlowStart) -> String {
    let mut line = format!(
        "at most {} {}, {} of {} requests in {} s",
        ramp.limit,
        ramp.unit,
        ramp.requests,
        ramp.requests_total,
        ramp.age_ms / 1000,
    );
    match ramp.next_step_ms {
        Some(ms) => line.push_str(&format!(", next step in {} s", ms.div_ceil(1000))),
        None => line.push_str(", until the rate is changed"),
    }
    if let Some(ms) = ramp.end_ms {
        line.push_str(&format!(", full share in about {} s", ms.div_ceil(1000)));
    }
    line
}
