//! One case after the other, operation by operation.

use super::super::*;

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

fn relay(idle: u64) -> Relay {
    Relay::new(Some(Duration::from_secs(idle)), at(0))
}

fn readable(ended: bool) -> Ready {
    Ready {
        readable: true,
        ended,
        ..Ready::default()
    }
}

fn failed() -> Ready {
    Ready {
        readable: true,
        ended: true,
        failed: true,
        ..Ready::default()
    }
}

fn writable() -> Ready {
    Ready {
        writable: true,
        ..Ready::default()
    }
}

/// Expects `steps` in this order, then nothing, all at `now`.
#[track_caller]
fn expect(relay: &mut Relay, now: Instant, steps: &[(Op, Outcome)]) {
    for (op, outcome) in steps {
        assert_eq!(relay.poll_op(), Some(*op));
        relay.handle_done(*op, *outcome, now);
    }
    assert_eq!(relay.poll_op(), None);
}

use Op::{Close, Finish, Measure, Receive, Reset, Send, SpliceIn, SpliceOut};
use Outcome::{Again, Ended, Failed, Moved, NoPipe, Unacknowledged};
use Side::{Client, Service};

#[test]
fn big_reads_in_a_row_are_spliced_and_a_small_one_between_begins_the_row_anew() {
    let mut relay = relay(9);
    let big = 8 << 10;
    for bytes in [big, big, big, big - 1, big, big, big, big] {
        relay.handle_ready(Client, readable(false), at(1));
        let step = [
            (Receive(Client), Moved(bytes)),
            (Send(Client), Moved(bytes)),
        ];
        expect(&mut relay, at(1), &step);
    }
    relay.handle_ready(Client, readable(false), at(1));
    expect(&mut relay, at(1), &[(SpliceIn(Client), Again)]);
}

#[test]
fn small_message_takes_one_read_and_one_write() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(false), at(1));
    expect(
        &mut relay,
        at(1),
        &[(Receive(Client), Moved(10)), (Send(Client), Moved(10))],
    );
}

#[test]
fn half_closed_client_gets_its_answer() {
    let mut relay = relay(90);
    relay.handle_ready(Client, readable(true), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Client), Moved(10)),
            (Send(Client), Moved(10)),
            (Receive(Client), Ended),
            (Finish(Service), Ended),
        ],
    );
    relay.handle_ready(Service, readable(true), at(6));
    expect(
        &mut relay,
        at(6),
        &[
            (Receive(Service), Moved(100)),
            (Send(Service), Moved(100)),
            (Receive(Service), Ended),
            (Close(CloseReason::Finished), Ended),
        ],
    );
}

#[test]
fn many_bytes_are_spliced_and_few_are_copied_again() {
    let mut relay = relay(9);
    relay.handle_ready(Service, readable(false), at(1));
    let mut steps = vec![
        (Receive(Service), Moved(READ_SIZE)),
        (Send(Service), Moved(READ_SIZE)),
    ];
    for _ in 0..9 {
        steps.push((SpliceIn(Service), Moved(100)));
        steps.push((SpliceOut(Service), Moved(100)));
    }
    steps.push((Receive(Service), Again));
    expect(&mut relay, at(1), &steps);
}

#[test]
fn without_a_pipe_the_direction_is_copied() {
    let mut relay = relay(9);
    relay.handle_ready(Service, readable(false), at(1));
    let copy = [
        (Receive(Service), Moved(READ_SIZE)),
        (Send(Service), Moved(READ_SIZE)),
    ];
    let mut steps = copy.to_vec();
    steps.push((SpliceIn(Service), NoPipe));
    for _ in 0..64 {
        steps.extend(copy);
    }
    steps.extend(copy);
    steps.push((SpliceIn(Service), Again));
    expect(&mut relay, at(1), &steps);
}

#[test]
fn urgent_data_is_read_past_its_mark_and_never_spliced() {
    let mut relay = relay(9);
    let ready = Ready {
        readable: true,
        urgent: true,
        ..Ready::default()
    };
    relay.handle_ready(Client, ready, at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Client), Moved(10)),
            (Send(Client), Moved(10)),
            (Receive(Client), Moved(READ_SIZE)),
            (Send(Client), Moved(READ_SIZE)),
            (Receive(Client), Again),
        ],
    );
}

#[test]
fn end_told_by_a_splice_is_not_believed() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(true), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Client), Moved(READ_SIZE)),
            (Send(Client), Moved(READ_SIZE)),
            (SpliceIn(Client), Ended),
            (Receive(Client), Moved(5)),
            (Send(Client), Moved(5)),
            (Receive(Client), Ended),
            (Finish(Service), Ended),
        ],
    );
}

#[test]
fn slow_reader_stops_the_reading() {
    let mut relay = relay(9);
    relay.handle_ready(Service, readable(false), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Service), Moved(1000)),
            (Send(Service), Moved(400)),
            (Send(Service), Again),
        ],
    );
    relay.handle_ready(Service, readable(false), at(2));
    expect(&mut relay, at(2), &[]);
    relay.handle_ready(Client, writable(), at(3));
    expect(
        &mut relay,
        at(3),
        &[(Send(Service), Moved(600)), (Receive(Service), Again)],
    );
}

#[test]
fn service_reset_reaches_the_client_after_its_bytes_are_acknowledged() {
    let mut relay = relay(9);
    relay.handle_ready(Service, failed(), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Service), Moved(1000)),
            (Send(Service), Moved(1000)),
            (Receive(Service), Failed(Failure::Reset)),
            (Measure(Client), Unacknowledged(1000)),
        ],
    );
    let check = relay.poll_timeout().unwrap();
    assert_eq!(check, at(1) + FIRST_CHECK);
    relay.handle_timeout(check);
    expect(
        &mut relay,
        check,
        &[
            (Measure(Client), Unacknowledged(0)),
            (Reset(CloseReason::ServiceReset), Ended),
        ],
    );
}

#[test]
fn error_used_up_by_a_write_still_ends_in_a_reset() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(false), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Client), Moved(10)),
            (Send(Client), Failed(Failure::Reset)),
            (Receive(Service), Moved(7)),
            (Send(Service), Moved(7)),
            (Receive(Service), Ended),
            (Measure(Client), Unacknowledged(0)),
            (Reset(CloseReason::ServiceReset), Ended),
        ],
    );
}

#[test]
fn client_that_closed_for_good_does_not_take_its_bytes_along() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(true), at(1));
    relay.handle_ready(Service, readable(false), at(1));
    assert_eq!(relay.poll_op(), Some(Receive(Client)));
    relay.handle_done(Receive(Client), Moved(500), at(1));
    assert_eq!(relay.poll_op(), Some(Send(Client)));
    relay.handle_done(Send(Client), Again, at(1));
    assert_eq!(relay.poll_op(), Some(Receive(Service)));
    relay.handle_done(Receive(Service), Moved(3), at(1));
    assert_eq!(relay.poll_op(), Some(Send(Service)));
    relay.handle_done(Send(Service), Failed(Failure::Broken), at(1));
    assert_eq!(relay.poll_op(), None);
    relay.handle_ready(Service, writable(), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Send(Client), Moved(500)),
            (Receive(Client), Ended),
            (Finish(Service), Ended),
            (Measure(Service), Unacknowledged(0)),
            (Reset(CloseReason::ClientReset), Ended),
        ],
    );
}

#[test]
fn client_reset_is_noticed_while_the_service_does_not_read() {
    let mut relay = relay(9000);
    relay.handle_ready(Client, readable(false), at(1));
    expect(
        &mut relay,
        at(1),
        &[(Receive(Client), Moved(500)), (Send(Client), Again)],
    );
    relay.handle_ready(Client, failed(), at(2));
    expect(&mut relay, at(2), &[]);
    assert_eq!(relay.poll_timeout(), Some(at(3)));
    relay.handle_timeout(at(3));
    expect(
        &mut relay,
        at(3),
        &[(Reset(CloseReason::ClientReset), Ended)],
    );
}

#[test]
fn silence_for_the_limit_ends_the_flow_and_traffic_one_way_does_not() {
    let mut relay = relay(3);
    for second in 1..=20 {
        relay.handle_ready(Service, readable(false), at(second));
        expect(
            &mut relay,
            at(second),
            &[(Receive(Service), Moved(1)), (Send(Service), Moved(1))],
        );
        relay.handle_timeout(at(second));
    }
    assert_eq!(relay.poll_timeout(), Some(at(23)));
    relay.handle_timeout(at(22));
    expect(&mut relay, at(22), &[]);
    relay.handle_timeout(at(23));
    expect(
        &mut relay,
        at(23),
        &[
            (Measure(Client), Unacknowledged(0)),
            (Measure(Service), Unacknowledged(0)),
            (Reset(CloseReason::IdleLimit), Ended),
        ],
    );
}

#[test]
fn client_that_takes_bytes_from_the_kernel_is_not_silent() {
    let mut relay = relay(3);
    for (second, left) in [(3, 900), (6, 500)] {
        relay.handle_timeout(at(second));
        expect(
            &mut relay,
            at(second),
            &[(Measure(Client), Unacknowledged(left))],
        );
    }
    relay.handle_timeout(at(9));
    expect(
        &mut relay,
        at(9),
        &[
            (Measure(Client), Unacknowledged(500)),
            (Measure(Service), Unacknowledged(0)),
            (Reset(CloseReason::IdleLimit), Ended),
        ],
    );
}

#[test]
fn no_limit_is_for_ever_until_one_direction_has_finished() {
    let mut relay = Relay::new(None, at(0));
    assert_eq!(relay.poll_timeout(), None);
    relay.handle_ready(Client, readable(true), at(5));
    expect(
        &mut relay,
        at(5),
        &[(Receive(Client), Ended), (Finish(Service), Ended)],
    );
    assert_eq!(relay.poll_timeout(), Some(at(65)));
}

#[test]
fn lack_of_memory_is_nobodys_reset() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(false), at(1));
    expect(
        &mut relay,
        at(1),
        &[
            (Receive(Client), Failed(Failure::Local)),
            (Reset(CloseReason::Local), Ended),
        ],
    );
}

#[test]
fn busy_direction_does_not_starve_the_other() {
    let mut relay = relay(9);
    relay.handle_ready(Client, readable(false), at(1));
    relay.handle_ready(Service, readable(false), at(1));
    let full = Moved(READ_SIZE);
    for (op, outcome) in [
        (Receive(Client), full),
        (Send(Client), full),
        (Receive(Service), Moved(9)),
        (Send(Service), Moved(9)),
        (SpliceIn(Client), Moved(999_999)),
    ] {
        assert_eq!(relay.poll_op(), Some(op));
        relay.handle_done(op, outcome, at(1));
    }
}
