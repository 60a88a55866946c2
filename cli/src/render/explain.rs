//! `explain lb vserver`: each virtual server that is asked, its services, and who gets the client.
//!
//! The layout is our own: the reference has no such command.

use sluice_protocol::{ExplainOutcome, ExplainService, ExplainVserver, Row, SlowStart};

use super::table;

/// Adds the rows of an explanation; nothing if there are none.
pub(crate) fn push(text: &mut String, rows: &[Row]) {
    let mut services: Vec<&ExplainService> = Vec::new();
    for row in rows {
        match row {
            Row::ExplainService(row) => services.push(row),
            Row::ExplainVserver(row) => {
                push_services(text, &std::mem::take(&mut services));
                push_vserver(text, row);
            }
            Row::ExplainOutcome(row) => {
                push_services(text, &std::mem::take(&mut services));
                push_outcome(text, row);
            }
            Row::Name(_)
            | Row::Line(_)
            | Row::Server(_)
            | Row::Service(_)
            | Row::Vserver(_)
            | Row::ServiceStat(_)
            | Row::VserverStat(_)
            | Row::UdpStat(_)
            | Row::Group(_)
            | Row::Connection(_)
            | Row::Profile(_)
            | Row::PersistentSession(_)
            | Row::Parameter(_)
            | Row::Config(_)
            | Row::ServiceGroup(_)
            | Row::ServiceGroupStat(_)
            | Row::ServiceGroupBinding(_) => {}
        }
    }
}

fn push_vserver(text: &mut String, row: &ExplainVserver) {
    let mut line = |label: &str, value: &str| {
        text.push_str(&format!("\t{label}: {value}\n"));
    };
    line(&row.vserver, verdict(&row.verdict));
    line("Method", &row.method);
    let parts = [
        ("Persistence", &row.persistence),
        ("Decided by", &row.rule),
        ("Value", &row.unit),
    ];
    for (label, value) in parts {
        if let Some(value) = value {
            line(label, value);
        }
    }
}

/// Says in words what a virtual server says to the flow.
fn verdict(word: &str) -> &str {
    match word {
        "SERVES" => "serves the flow",
        "KEEPS" => "serves the flow, since the client keeps to it after a spillover",
        "ACCEPTS" => "spills, but serves the flow since nobody else can",
        "OUT OF SERVICE" => "out of service, does not serve the flow",
        "DOWN" => "down, does not serve the flow",
        "SPILLING" => "spills, does not serve the flow",
        "FULL" => "has no service with room, does not serve the flow",
        "STICKY" => "refuses the flow, since the client sticks to a service that has no room",
        other => other,
    }
}

fn push_services(text: &mut String, services: &[&ExplainService]) {
    if services.is_empty() {
        return;
    }
    let title = [
        "",
        "SERVICE",
        "STATE",
        "WEIGHT",
        "ORDER",
        "VALUE",
        "VALUE*10000/WEIGHT",
        "SLOW-START",
        "LEFT OUT",
    ];
    let mut lines = vec![title.map(str::to_owned)];
    lines.extend(services.iter().map(|row| columns(row)));
    table::push(text, &lines);
}

fn columns(row: &ExplainService) -> [String; 9] {
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let mut remarks = row.excluded.clone();
    if row.stands_behind {
        remarks.push("stands behind the others: takes traffic and gives none back".to_owned());
    }
    [
        if row.next { "->" } else { "" }.to_owned(),
        row.service.clone(),
        row.state.clone(),
        row.weight.to_string(),
        number(row.order),
        number(row.value),
        number(row.value_for_weight),
        row.slow_start
            .as_ref()
            .map_or_else(|| "-".to_owned(), slow_start),
        remarks.join(", "),
    ]
}

fn slow_start(row: &SlowStart) -> String {
    let unit = match row.unit.as_str() {
        "PERCENT" => "%",
        _ => "/s",
    };
    format!(
        "{}{unit}, {} of {} so far",
        row.limit, row.requests, row.requests_total
    )
}

fn push_outcome(text: &mut String, row: &ExplainOutcome) {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    let answer = match row.outcome.as_str() {
        "SERVICE" => name(&row.service),
        "CHANCE" => "by chance, by weight, one of those that are not left out".to_owned(),
        "UNKNOWN" => format!("depends on {}", row.missing.join(", ")),
        _ => format!("refused: {}", name(&row.refusal)),
    };
    let by = row.diversion.as_ref().map(|why| {
        let vserver = name(&row.vserver);
        match why.as_str() {
            "DOWN" => format!(" (backup {vserver}, primary down)"),
            _ => format!(" (backup {vserver}, spillover)"),
        }
    });
    text.push_str(&format!(
        "\tNext client: {answer}{}\n",
        by.unwrap_or_default()
    ));
    let (tokens, options): (Vec<&String>, _) = row
        .assumed_without
        .iter()
        .partition(|word| *word == "token");
    let options: Vec<&str> = options.into_iter().map(String::as_str).collect();
    if !options.is_empty() {
        text.push_str(&format!(
            "\tOf a client without a persistence entry; give {} to ask about one that may have it\n",
            options.join(", ")
        ));
    }
    if !tokens.is_empty() {
        text.push_str("\tOf a client whose token does not come in time\n");
    }
}
