//! Sends what a batch holds, in order and whole, and counts what could not be sent.

use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::os::fd::BorrowedFd;

use super::losses::{Loss, Losses};
use super::sys::{Arena, Datagram, Ends};

/// Returns the next datagrams from `start` on that are whole and have the same ends, skipping and
/// counting those that are not whole.
pub(super) fn next_run(
    datagrams: &[Datagram],
    mut start: usize,
    losses: &Losses,
) -> Option<Range<usize>> {
    while datagrams.get(start)?.truncated {
        losses.add(Loss::Truncated, 1);
        start += 1;
    }
    let first = &datagrams[start];
    let same = |next: &&Datagram| !next.truncated && next.from == first.from && next.to == first.to;
    let len = datagrams[start..].iter().take_while(same).count();
    Some(start..start + len)
}

/// Sends the datagrams `run` of the batch; returns how many were sent, and their bytes.
///
/// What cannot be sent at once is dropped, as a router would: a queue here would only add delay
/// behind a full buffer. An error may be one that the network reported for an earlier datagram and
/// that the system hands out instead of sending, so each datagram is tried twice.
pub(super) fn send_run(
    arena: &Arena,
    socket: BorrowedFd<'_>,
    mut run: Range<usize>,
    ends: Option<&Ends>,
    losses: &Losses,
) -> (u64, u64) {
    let (mut packets, mut bytes) = (0, 0);
    let mut again = false;
    while !run.is_empty() {
        match arena.send(socket, run.clone(), ends) {
            Ok((sent, sent_bytes)) => {
                run.start += sent;
                packets += sent as u64;
                bytes += sent_bytes;
                losses.add(Loss::Reported, usize::from(again));
                again = false;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_full(&error) => {
                losses.add(Loss::Full, 1);
                run.start += 1;
                again = false;
            }
            Err(_) if !again => again = true,
            Err(error) => {
                tracing::debug!(%error, "a datagram cannot be sent");
                losses.add(Loss::Unsendable, 1);
                run.start += 1;
                again = false;
            }
        }
    }
    (packets, bytes)
}

fn is_full(error: &Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(port: u16, truncated: bool) -> Datagram {
        Datagram {
            len: 1,
            truncated,
            from: Some(([192, 0, 2, 1], port).into()),
            to: None,
        }
    }

    #[test]
    fn runs_keep_the_order_and_leave_out_what_is_not_whole() {
        let losses = Losses::default();
        let batch = [
            datagram(1, true),
            datagram(1, false),
            datagram(1, false),
            datagram(2, false),
            datagram(1, false),
            datagram(1, true),
            datagram(1, false),
            datagram(2, true),
        ];
        let mut runs = Vec::new();
        let mut done = 0;
        while let Some(run) = next_run(&batch, done, &losses) {
            done = run.end;
            runs.push(run);
        }
        assert_eq!(runs, [1..3, 3..4, 4..5, 6..7]);
        assert_eq!(losses.count(Loss::Truncated), 3);
    }
}
