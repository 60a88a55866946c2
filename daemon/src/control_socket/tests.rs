//! Conversations over a pair of sockets, with a controller that always answers the same. Time stands
//! still but for the waits, so limits are exact and take no time.

use super::*;
use crate::queue::{Events, queue};
use sluice_command::{FaultKind, Noun};
use sluice_protocol::Row;

/// The client's end of a conversation.
struct Peer {
    stream: UnixStream,
    received: FrameBuffer,
}

impl Peer {
    /// Starts a conversation of the table's and returns the other end of it.
    fn start(clients: &Clients, controller: &Handle) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        admit(ours, clients, controller);
        Self {
            stream: theirs,
            received: FrameBuffer::new(),
        }
    }

    async fn send<T: serde::Serialize>(&mut self, message: &T) {
        self.stream
            .write_all(&frame(message).unwrap())
            .await
            .unwrap();
    }

    /// Returns the next message; `None` at the end of the stream.
    async fn next<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let mut chunk = [0; 4096];
        loop {
            if let Some(body) = self.received.next().unwrap() {
                return Some(decode(&body).unwrap());
            }
            match self.stream.read(&mut chunk).await {
                // A close with bytes unread on the other side is a reset, after what was sent.
                Ok(0) | Err(_) => return None,
                Ok(length) => self.received.push(&chunk[..length]),
            }
        }
    }

    async fn greet(&mut self) {
        let theirs: Hello = self.next().await.unwrap();
        assert_eq!(
            (theirs.version, theirs.product.as_str()),
            (VERSION, PRODUCT)
        );
        self.send(&Hello {
            version: VERSION,
            product: "test".to_owned(),
        })
        .await;
    }

    async fn ask(&mut self) -> Option<Reply> {
        self.send(&Request::Names(Noun::Server)).await;
        self.next().await
    }

    /// Reads an error with these details, then the end.
    async fn expect_refusal(mut self, code: u16, details: &str) {
        match self.next().await {
            Some(Reply::Error(fault)) => {
                assert_eq!(
                    (fault.code, fault.details.as_deref()),
                    (code, Some(details))
                );
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(self.next::<Reply>().await, None);
    }
}

fn controller(answer: Vec<Reply>) -> Handle {
    let (handle, events): (Handle, Events) = queue();
    events.answer_all(answer);
    handle
}

fn name(text: &str) -> Reply {
    Reply::Row(Box::new(Row::Name(text.to_owned())))
}

const PROTOCOL: u16 = faults::PROTOCOL.number;

#[tokio::test]
async fn requests_are_answered_in_turn_also_when_sent_at_once() {
    let mut peer = Peer::start(
        &Clients::default(),
        &controller(vec![name("s1"), Reply::Done]),
    );
    peer.greet().await;
    for _ in 0..100 {
        peer.send(&Request::Names(Noun::Server)).await;
    }
    for _ in 0..100 {
        assert_eq!(peer.next().await, Some(name("s1")));
        assert_eq!(peer.next().await, Some(Reply::Done));
    }
}

#[tokio::test]
async fn another_version_is_told_both_versions() {
    let mut peer = Peer::start(&Clients::default(), &controller(Vec::new()));
    let _: Hello = peer.next().await.unwrap();
    peer.send(&Hello {
        version: VERSION + 1,
        product: "99.0.0".to_owned(),
    })
    .await;
    let told =
        format!("the client speaks version 99.0.0, the daemon version {PRODUCT}; install the same");
    peer.expect_refusal(PROTOCOL, &told).await;
}

#[tokio::test]
async fn what_is_no_frame_or_no_message_is_refused() {
    for (bytes, told) in [
        (&b"\0\0\0\0"[..], "a frame has the length 0"),
        (
            b"\xff\xff\xff\xff",
            "a frame has the length 4294967295, at most 1048576 are allowed",
        ),
        (
            b"GET / HTTP/1.1\r\n\r\n",
            "a frame has the length 1195725856, at most 1048576 are allowed",
        ),
        (
            b"\0\0\0\x03\xff\xff\xff",
            "3 bytes are not a message of the control protocol",
        ),
    ] {
        let mut peer = Peer::start(&Clients::default(), &controller(Vec::new()));
        peer.greet().await;
        peer.stream.write_all(bytes).await.unwrap();
        peer.expect_refusal(PROTOCOL, told).await;
    }
}

#[tokio::test]
async fn random_bytes_never_harm_the_next_client() {
    let controller = controller(vec![Reply::Done]);
    let clients = Clients::default();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..300 {
        let mut peer = Peer::start(&clients, &controller);
        peer.greet().await;
        let bytes: Vec<u8> = (0..64)
            .map(|index| {
                // xorshift64; the first two bytes zero, so that most lengths are believable.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if index < 2 { 0 } else { state.to_le_bytes()[0] }
            })
            .collect();
        peer.stream.write_all(&bytes).await.unwrap();
    }
    let mut peer = Peer::start(&clients, &controller);
    peer.greet().await;
    assert_eq!(peer.ask().await, Some(Reply::Done));
}

#[tokio::test(start_paused = true)]
async fn half_a_frame_and_half_a_hello_have_ten_seconds() {
    let told = "the rest of a message did not come within 10 s";
    let controller = controller(Vec::new());

    let start = Instant::now();
    let mut silent = Peer::start(&Clients::default(), &controller);
    let _: Hello = silent.next().await.unwrap();
    silent.expect_refusal(PROTOCOL, told).await;
    assert_eq!(start.elapsed(), FRAME_LIMIT);

    let mut slow = Peer::start(&Clients::default(), &controller);
    slow.greet().await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    slow.stream.write_all(&[0, 0, 0]).await.unwrap();
    let start = Instant::now();
    tokio::time::sleep(Duration::from_secs(6)).await;
    slow.stream.write_all(&[200, 1]).await.unwrap();
    slow.expect_refusal(PROTOCOL, told).await;
    assert_eq!(
        start.elapsed(),
        FRAME_LIMIT,
        "a byte now and then buys no time"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_ended_and_holds_up_nobody() {
    let long = vec![name(&"x".repeat(100_000)); 100];
    let controller = controller(long);
    let clients = Clients::default();
    let mut deaf = Peer::start(&clients, &controller);
    deaf.greet().await;
    deaf.send(&Request::Names(Noun::Server)).await;

    let mut other = Peer::start(&clients, &controller);
    other.greet().await;
    assert!(matches!(other.ask().await, Some(Reply::Row(_))));
    drop(other);

    tokio::time::sleep(WRITE_LIMIT * 2).await;
    let mut rows = 0;
    while deaf.next::<Reply>().await.is_some() {
        rows += 1;
    }
    assert!(rows < 100, "the answer was cut off after {rows} rows");
}

#[tokio::test]
async fn a_row_that_fits_no_frame_is_an_error_and_the_conversation_goes_on() {
    let controller = controller(vec![name("a"), name(&"x".repeat(2 << 20)), Reply::Done]);
    let mut peer = Peer::start(&Clients::default(), &controller);
    peer.greet().await;
    for _ in 0..2 {
        assert_eq!(peer.ask().await, Some(name("a")));
        match peer.next().await {
            Some(Reply::Error(fault)) => assert_eq!(
                (fault.code, fault.kind),
                (faults::ANSWER_TOO_LONG.number, FaultKind::System)
            ),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_hundred_silent_clients_do_not_keep_another_one_out() {
    let controller = controller(vec![Reply::Done]);
    let clients = Clients::default();
    let mut silent: Vec<_> = (0..100)
        .map(|_| Peer::start(&clients, &controller))
        .collect();
    for peer in &mut silent[50..] {
        peer.greet().await;
    }
    let mut administrator = Peer::start(&clients, &controller);
    administrator.greet().await;
    assert_eq!(administrator.ask().await, Some(Reply::Done));
    // The newest of the others are still served.
    assert_eq!(silent[99].ask().await, Some(Reply::Done));
}

#[tokio::test]
async fn a_stopped_controller_ends_the_conversation_with_a_reason() {
    let (handle, events) = queue();
    drop(events);
    let mut peer = Peer::start(&Clients::default(), &handle);
    peer.greet().await;
    peer.send(&Request::Names(Noun::Server)).await;
    peer.expect_refusal(faults::SHUTTING_DOWN.number, "the daemon is shutting down")
        .await;
}
