//! Golden texts of `stat`: counters of virtual servers and services.

use super::*;
use sluice_protocol::ServiceStat;

#[test]
fn statistics_of_all_virtual_servers_are_a_table() {
    let rows = [vserver_stat(None), vserver_stat(None)];
    let expected = "
Virtual Server(s) Summary
                      vsvrIP  port     Protocol        State   Health  actSvcs
v1                172.17.0.6 10080          TCP           UP      100        2

v1                172.17.0.6 10080          TCP           UP      100        2

";
    assert_eq!(show(&rows, Form::List), expected);
}

// The last table is wider than a line of code should be; broken up it could not be compared by eye.
#[test]
fn statistics_of_one_virtual_server_show_what_the_choice_looks_at() {
    let bound = BoundStat {
        name: "s1".to_owned(),
        address: "172.17.0.7".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        weight: 3,
        order: None,
        standby: false,
        hits: 12,
        active: 3,
        window_bytes: 8_750_000,
        window_packets: 41,
        slow_start: None,
    };
    let expected = "
Virtual Server Summary
                      vsvrIP  port     Protocol        State   Health  actSvcs
v1                172.17.0.6 10080          TCP           UP      100        2

           inactSvcs
v1                 0

Virtual Server Statistics
                                          Rate (/s)                Total
Vserver hits                                       2                   12
Request bytes                                   1024           1073741824
Response bytes                                     0                   99
Total Packets rcvd                                --                    7
Total Packets sent                                --                    8
Current client connections                        --                    3
Current Persistence Sessions                      --                    0
Spill Over Threshold                              --                    0
Spill Over Hits                                   --                    0
Vserver Down Backup Hits                          --                    0
Requests refused                                  --                    1
Clients gone before a Service                     --                    8

Bound Service(s) Summary
                          IP  port         Type        State     Hits   Active   Weight   Mbit/s (14 s)  Packets (14 s)
s1                172.17.0.7    80          TCP           UP       12        3        3           5.000              41
";
    assert_eq!(
        show(&[vserver_stat(Some(vec![bound]))], Form::Single),
        expected
    );
}

pub(super) fn service_stat() -> Row {
    Row::ServiceStat(ServiceStat {
        name: "s1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "8001".to_owned(),
        service_type: "TCP".to_owned(),
        state: "OFS".to_owned(),
        active: 1,
        hits: 5,
        hits_per_s: 4,
        request_bytes: 18_446_744_073_709_551_615,
        request_bytes_per_s: 125_000,
        response_bytes: 1_073_741_824,
        response_bytes_per_s: 250_000,
        packets_received: 9,
        packets_sent: 10,
        window_bytes: 1_752_000,
        window_packets: 11,
        connect_failures: 12,
        service_resets: 13,
        client_resets: 14,
        idle_closes: 15,
        local_failures: 20,
        service_closes: 16,
        response_time_us: Some(12_345),
        longest_wait_us: None,
        recent_failures: 17,
        stands_behind: true,
        tcp_inline: None,
    })
}

#[test]
fn statistics_of_one_service_are_exact() {
    let expected = "
Service Summary
                          IP  port         Type        State    Req/s   Active   Mbit/s (14 s)
s1                  10.0.0.1  8001          TCP          OFS      4/s        1           1.001

Service Statistics
                                          Rate (/s)                Total
Throughput (Mbps)                              3.000                   --
Bandwidth (14 s, Mbit/s)                       1.001                   --
Bytes (14 s)                                      --              1752000
Packets (14 s)                                    --                   11
Service hits                                       4                    5
Request bytes                                 125000 18446744073709551615
Response bytes                                250000           1073741824
Total Packets rcvd                                --                    9
Total Packets sent                                --                   10
Current client connections                        --                    1
Connect failures                                  --                   12
Resets by the service                             --                   13
Closed without an answer                          --                   16
Resets by the client                              --                   14
Closed by the idle limit                          --                   15
No local port or memory                           --                   20
Average server TTFB (ms)                          --               12.345
Longest wait now (ms)                             --                   --
Recent failures                                   --                   17
Stands behind                                     --                  YES
";
    assert_eq!(show(&[service_stat()], Form::Single), expected);
}

#[test]
fn statistics_of_services_are_a_table() {
    let expected = "
Service(s) Summary
                          IP  port         Type        State    Req/s   Active   Mbit/s (14 s)
s1                  10.0.0.1  8001          TCP          OFS      4/s        1           1.001

";
    assert_eq!(show(&[service_stat()], Form::List), expected);
}
