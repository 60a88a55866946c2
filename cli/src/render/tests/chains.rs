//! Backups, spillover and orders in `show` and `stat`.

use super::*;

/// The lines of `show lb vserver` between two labels, the first included.
fn between(row: VserverRow, from: &str, to: &str) -> String {
    let text = show(&[Row::Vserver(row)], Form::Single);
    let from = text.find(from).unwrap();
    let to = text.find(to).unwrap();
    text[from..to].to_owned()
}

#[test]
fn a_virtual_server_with_everything_shows_it_and_one_with_nothing_does_not() {
    let mut row = vserver(None);
    row.settings.extend(settings(&[
        ("backupVServer", "b1"),
        ("disablePrimaryOnDown", "ENABLED"),
        ("soMethod", "CONNECTION"),
        ("soThreshold", "100"),
        ("soPersistence", "ENABLED"),
        ("soPersistenceTimeOut", "5"),
        ("soBackupAction", "ACCEPT"),
        ("healthThreshold", "30"),
        ("orderThreshold", "2"),
        ("toggleOrder", "DESCENDING"),
    ]));
    row.held_down = true;
    row.spilling_over = true;
    row.active_order = Some(7);
    assert_eq!(
        between(row.clone(), "\tEffective", "\tComment"),
        "\tEffective State: UP
\tHeld Down: until enable lb vserver v1
\tSpilling Over: YES
\tClient Idle Timeout: 9000 sec
\tDown state flush: ENABLED
\tDisable Primary Vserver On Down : ENABLED
"
    );
    assert_eq!(
        between(row.clone(), "\tPersistence: NONE", "\tSkip"),
        "\tPersistence: NONE
\tBackup: b1
\tSpill Over Method: CONNECTION\tThreshold: 100\tPersistence: ENABLED\tPersistence Timeout: 5 min\t\
         Backup Action: ACCEPT
\tHealth Threshold: 30
"
    );
    let text = show(&[Row::Vserver(row)], Form::Single);
    assert!(
        text.ends_with(
            "\tTROFS Persistence honored: ENABLED
\tOrder Sequence: DESCENDING
\tOrder Threshold: 2
\tCurrent Active Order: 7
"
        ),
        "{text}"
    );
}

#[test]
fn what_is_at_its_default_is_shown_where_the_reference_does() {
    let mut row = vserver(None);
    row.settings.extend(settings(&[
        ("disablePrimaryOnDown", "DISABLED"),
        ("soMethod", "NONE"),
        ("soPersistence", "DISABLED"),
        ("soPersistenceTimeOut", "2"),
        ("healthThreshold", "0"),
        ("orderThreshold", "0"),
        ("toggleOrder", "ASCENDING"),
    ]));
    let expected = VSERVER_BODY.replace(
        "\tComment",
        "\tDisable Primary Vserver On Down : DISABLED\n\tComment",
    );
    assert_eq!(
        show(&[Row::Vserver(row)], Form::Single),
        format!(
            "\tv1 (10.0.0.1:80) - TCP\tType: ADDRESS \n{expected}\
             \tOrder Sequence: ASCENDING\n\tCurrent Active Order: None\n"
        )
    );
}

#[test]
fn orders_stand_behind_the_weights_where_a_service_has_one() {
    let with = |order, standby, name| BoundService {
        order,
        standby,
        ..bound(name, "UP", 1)
    };
    let services = vec![
        with(Some(1), false, "svc1"),
        with(Some(2), true, "svc2"),
        with(None, true, "svc3"),
    ];
    let text = show(&[Row::Vserver(vserver(Some(services)))], Form::Single);
    let expected = "1) svc1 (10.0.1.1: 80) - TCP State: UP\tWeight: 1 Order: 1\n\
                    2) svc2 (10.0.1.1: 80) - TCP State: UP\tWeight: 1 Order: 2 (standby)\n\
                    3) svc3 (10.0.1.1: 80) - TCP State: UP\tWeight: 1 Order: None (standby)\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn statistics_count_what_backups_took_and_have_a_column_of_orders() {
    let service = |name: &str, order, standby| BoundStat {
        name: name.to_owned(),
        address: "172.17.0.7".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        weight: 3,
        order,
        standby,
        hits: 12,
        active: 3,
        window_bytes: 0,
        window_packets: 41,
        slow_start: None,
    };
    let bound = vec![service("s1", Some(1), false), service("s2", None, true)];
    let Row::VserverStat(row) = vserver_stat(Some(bound)) else {
        panic!("it makes statistics");
    };
    let row = VserverStat {
        spillover_threshold: 100,
        spillover_hits: 17,
        down_backup_hits: 4,
        ..row
    };
    let text = show(&[Row::VserverStat(row)], Form::Single);
    let counters = "
Spill Over Threshold                              --                  100
Spill Over Hits                                   --                   17
Vserver Down Backup Hits                          --                    4
Requests refused ";
    assert!(text.contains(counters), "{text}");
    let ends: Vec<&str> = text.lines().rev().take(3).collect();
    assert!(ends[0].ends_with("             41  (None)"), "{text}");
    assert!(ends[1].ends_with("             41       1"), "{text}");
    assert!(ends[2].ends_with(" Packets (14 s)   Order"), "{text}");
}
