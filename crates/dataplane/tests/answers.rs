//! What the engine hears of first exchanges, and what follows for services that fail: real workers,
//! real services, loopback.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]

mod tcp_rig;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use sluice_balance::Method;

use tcp_rig::{Rig, connect, reset, service};

#[test]
fn time_from_the_clients_first_byte_to_the_first_answer_is_booked() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let address = service(move |mut stream| {
        stream.read_exact(&mut [0; 4]).unwrap();
        released.lock().unwrap().recv().unwrap();
        stream.write_all(b"pong").unwrap();
        let _ = stream.read(&mut [0; 1]);
    });
    let mut rig = Rig::start(1);
    let mut client = connect(rig.serve(&[address]));
    rig.wait_until("the service is chosen", |rig| rig.service(1).active == 1);
    assert_eq!(rig.service(1).longest_wait, None, "nothing was asked yet");
    let asked = Instant::now();
    client.write_all(b"ping").unwrap();
    let wait = Duration::from_millis(20);
    rig.wait_until("the client waits", |rig| {
        rig.service(1).longest_wait >= Some(wait)
    });
    release.send(()).unwrap();
    client.read_exact(&mut [0; 4]).unwrap();
    let answered = asked.elapsed();
    rig.wait_until("the answer is booked", |rig| {
        rig.service(1).response_time.is_some()
    });
    let row = rig.service(1);
    let time = row.response_time.unwrap();
    assert!(time >= wait && time <= answered, "{time:?}, {answered:?}");
    assert_eq!((row.longest_wait, row.recent_failures), (None, 0));
}

#[test]
fn service_that_speaks_first_has_answered() {
    let address = service(|mut stream| {
        stream.write_all(b"banner").unwrap();
        let _ = stream.read(&mut [0; 1]);
    });
    let mut rig = Rig::start(1);
    let mut client = connect(rig.serve(&[address]));
    client.read_exact(&mut [0; 6]).unwrap();
    client.write_all(b"x").unwrap();
    drop(client);
    rig.wait_until_idle();
    let row = rig.service(1);
    assert!(row.response_time.unwrap() < Duration::from_secs(5));
    assert_eq!((row.service_closes, row.recent_failures), (0, 0));
}

#[test]
fn service_that_closes_without_a_byte_has_failed_whatever_the_client_does() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[service(drop)]);
    let mut silent = connect(vserver);
    assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0);
    drop(silent);
    let mut departing = connect(vserver);
    assert_eq!(departing.read(&mut [0; 1]).unwrap(), 0);
    reset(departing);
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.service_closes, row.client_resets), (2, 0));
    assert_eq!(row.recent_failures, 2);
    assert!(row.response_time >= Some(Duration::from_secs(5)));
}

#[test]
fn service_that_resets_without_an_answer_has_failed() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[service(|stream| {
        stream.peek(&mut [0; 1]).unwrap();
        reset(stream);
    })]);
    let mut client = connect(vserver);
    client.write_all(b"ping").unwrap();
    client.read(&mut [0; 1]).unwrap_err();
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.service_resets, row.recent_failures), (1, 1));
}

#[test]
fn client_that_leaves_without_a_word_blames_nobody() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[silent()]);
    drop(connect(vserver));
    let departing = connect(vserver);
    rig.wait_until("it is chosen for", |rig| rig.service(1).hits == 2);
    reset(departing);
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.service_closes, row.recent_failures), (0, 0));
    assert_eq!((row.response_time, row.stands_behind), (None, false));
}

#[test]
fn service_that_swallows_traffic_stands_behind_where_traffic_is_compared() {
    for method in [Method::LeastBandwidth, Method::LeastPackets] {
        let mut rig = Rig::start(2);
        let vserver = rig.serve_by(method, &[silent(), generous(), generous()]);
        let start = Instant::now();
        let lost = (0..40).filter(|_| !is_served(vserver)).count() as u64;
        assert!(rig.service(1).hits == lost && lost > 0);
        // The first client, and one trial every 5 s.
        let trials = start.elapsed().as_secs() / 5 + 1;
        assert!(lost <= 1 + trials, "{method:?}: {lost} clients lost");
        let served = [2, 3].map(|number| rig.service(number).hits);
        assert!(served.iter().all(|hits| *hits >= 10), "{served:?}");
    }
}

#[test]
fn silence_is_noticed_while_the_client_still_waits() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve_by(Method::LeastBandwidth, &[silent(), generous()]);
    let mut waiting = connect(vserver);
    waiting.write_all(b"ping").unwrap();
    rig.wait_until("it stands behind", |rig| rig.service(1).stands_behind);
    let row = rig.service(1);
    assert_eq!((row.hits, row.active, row.recent_failures), (1, 1, 0));
    assert!(row.longest_wait > Some(Duration::from_secs(1)));
    assert!(is_served(vserver));
}

#[test]
fn service_that_fails_fast_gets_no_more_than_its_share() {
    for method in [Method::LeastConnection, Method::LeastResponseTime] {
        for failing in [service(drop), hasty()] {
            let mut rig = Rig::start(2);
            let vserver = rig.serve_by(method, &[failing, slow(), slow()]);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..30).filter(|_| is_served(vserver)).count());
                }
            });
            rig.wait_until_idle();
            let hits = [1, 2, 3].map(|number| rig.service(number).hits);
            assert!(hits[0] > 0 && hits[0] <= 40, "{method:?}: {hits:?}");
        }
    }
}

/// Takes everything and says nothing.
fn silent() -> SocketAddr {
    service(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    })
}

/// Answers each request with many bytes.
fn generous() -> SocketAddr {
    service(|mut stream| {
        while matches!(stream.read(&mut [0; 100]), Ok(1..)) {
            if stream.write_all(&[b'!'; 20_000]).is_err() {
                return;
            }
        }
    })
}

/// Takes a request and closes.
fn hasty() -> SocketAddr {
    service(|mut stream| {
        let _ = stream.read(&mut [0; 100]);
    })
}

/// Takes a while to answer.
fn slow() -> SocketAddr {
    service(|mut stream| {
        if matches!(stream.read(&mut [0; 100]), Ok(1..)) {
            std::thread::sleep(Duration::from_millis(10));
            let _ = stream.write_all(b"!");
        }
    })
}

/// Asks once, and gives up before long; returns whether an answer came.
fn is_served(vserver: SocketAddr) -> bool {
    let mut client = TcpStream::connect(vserver).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    // A service that has closed already may answer this with a reset.
    let _ = client.write_all(b"ping");
    matches!(client.read(&mut [0; 20_000]), Ok(1..))
}

/// How long a client waits for an answer: shorter than the engine takes to see silence by itself.
const PATIENCE: Duration = Duration::from_millis(700);
