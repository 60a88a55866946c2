//! What connections say of a service.

use super::*;
use sluice_protocol::{ServiceGroupMember, ServiceGroupRow, TcpInline};

fn well() -> TcpInline {
    TcpInline {
        state: "UP".to_owned(),
        on_trial: false,
        reason: None,
        trial_ms: None,
        connections: 412,
        failed_total: 11,
        failed_current: 1,
        failed_lately: 2,
        sample: 100,
        times_down: 3,
        last_response: Some("Success - Client data answered".to_owned()),
        last_response_age_ms: Some(5),
    }
}

fn out() -> TcpInline {
    TcpInline {
        state: "DOWN".to_owned(),
        reason: Some("9 failures in a row".to_owned()),
        trial_ms: Some(7_001),
        failed_current: 0,
        failed_lately: 0,
        sample: 0,
        last_response: Some("Failure - TCP connection failed".to_owned()),
        ..well()
    }
}

fn service(tcp_inline: Option<TcpInline>) -> String {
    let row = Row::Service(ServiceRow {
        name: "s1".to_owned(),
        server: "h1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "DOWN".to_owned(),
        state_change_unix_ms: 0,
        state_age_ms: 0,
        drain: None,
        tcp_inline,
        settings: settings(&[("td", "0")]),
    });
    let text = show(&[row], Form::Single);
    let (_, monitors) = text.split_once("Traffic Domain: 0\n").unwrap();
    monitors.to_owned()
}

#[test]
fn a_service_shows_it_as_a_monitor_with_why_and_until_when_it_is_down() {
    assert_eq!(service(None), "");
    let untried = TcpInline {
        last_response: None,
        ..well()
    };
    let trial = TcpInline {
        on_trial: true,
        reason: Some("the trial failed".to_owned()),
        ..well()
    };
    let head =
        |state: &str| format!("\n1)\tMonitor Name: TCP-INLINE\n\t\tState: {state}\tPassive: 0\n");
    for (row, expected) in [
        (
            untried,
            head("UP") + "\t\tProbes: 412\tFailed [Total: 11 Current: 1]\tLately: 2 of 100\n",
        ),
        (
            trial,
            head("UP")
                + "\t\tProbes: 412\tFailed [Total: 11 Current: 1]\tLately: 2 of 100\n\
                   \t\tLast response: Success - Client data answered.\n\
                   \t\tReason: the trial failed, on trial, one connection at a time\n",
        ),
        (
            out(),
            head("DOWN")
                + "\t\tProbes: 412\tFailed [Total: 11 Current: 0]\tLately: 0 of 0\n\
                   \t\tLast response: Failure - TCP connection failed.\n\
                   \t\tReason: 9 failures in a row, a connection tries it in 8 seconds\n",
        ),
    ] {
        assert_eq!(service(Some(row)), expected);
    }
}

#[test]
fn a_member_of_a_service_group_shows_it_behind_its_state() {
    let row = Row::ServiceGroup(ServiceGroupRow {
        name: "g".to_owned(),
        service_type: "TCP".to_owned(),
        state: "ENABLED".to_owned(),
        effective_state: "DOWN".to_owned(),
        settings: settings(&[]),
        members_total: 1,
        members_active: 0,
        members: Some(vec![ServiceGroupMember {
            server: "h1".to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            state: "DOWN".to_owned(),
            state_change_unix_ms: 0,
            state_age_ms: 0,
            drain: None,
            tcp_inline: Some(out()),
            settings: settings(&[]),
        }]),
    });
    let text = show(&[row], Form::Single);
    let (_, monitors) = text.split_once("00:00:00.0\n").unwrap();
    assert_eq!(
        monitors,
        "\n\t\tMonitor Name: TCP-INLINE \tState: DOWN\tPassive: 0\n\
         \t\tProbes: 412\tFailed [Total: 11 Current: 0]\tLately: 0 of 0\n\
         \t\tLast response: Failure - TCP connection failed.\n\
         \t\tReason: 9 failures in a row, a connection tries it in 8 seconds\n"
    );
}

#[test]
fn statistics_count_it() {
    let Row::ServiceStat(mut row) = statistics::service_stat() else {
        panic!("it is one");
    };
    row.tcp_inline = Some(well());
    let text = show(&[Row::ServiceStat(row)], Form::Single);
    let (_, lines) = text.split_once("Stands behind ").unwrap();
    let squeezed = lines.lines().skip(1).map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.join(" ")
    });
    let expected = [
        "TCP-INLINE connections -- 412",
        "TCP-INLINE failures -- 11",
        "TCP-INLINE failures in a row -- 1",
        "TCP-INLINE times DOWN -- 3",
    ];
    assert_eq!(squeezed.collect::<Vec<_>>(), expected);
}
