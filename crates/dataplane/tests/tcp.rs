//! TCP through a running data plane: real workers, real services, loopback.

mod tcp_rig;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use sluice_balance::{Change, ServiceId, VserverId};
use sluice_dataplane::PrepareError;

use tcp_rig::{
    Idle, PATIENCE, Rig, connect, echo, read_pattern, read_pattern_or_error, refusing, reset,
    service, service_at, vserver_settings, write_pattern,
};

const MIB: u64 = 1 << 20;

#[test]
fn bytes_are_exact_in_both_directions_at_once_and_counted() {
    let address = service(|mut stream| {
        let mut reader = stream.try_clone().unwrap();
        let read = std::thread::spawn(move || read_pattern(&mut reader, 1));
        write_pattern(&mut stream, 2, 64 * MIB);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(read.join().unwrap(), 64 * MIB);
    });
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[address]));
    let mut writer = client.try_clone().unwrap();
    let write = std::thread::spawn(move || {
        write_pattern(&mut writer, 1, 64 * MIB);
        writer.shutdown(Shutdown::Write).unwrap();
    });
    rig.wait_until("counters move while bytes do", |rig| {
        let row = rig.service(1);
        row.active == 1 && row.bytes_in > 0 && row.bytes_out > 0
    });
    assert_eq!(read_pattern(&mut client, 2), 64 * MIB);
    write.join().unwrap();
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.bytes_in, row.bytes_out), (64 * MIB, 64 * MIB));
    assert_eq!((row.hits, row.active), (1, 0));
    let vserver = &rig.plane.snapshot().vservers[0];
    assert_eq!((vserver.bytes_in, vserver.bytes_out), (64 * MIB, 64 * MIB));
    assert_eq!(vserver.packets_in, row.packets_in);
}

#[test]
fn packets_are_the_segments_of_the_service_side() {
    let mut rig = Rig::start(1);
    let mut client = connect(rig.serve(&[echo()]));
    for _ in 0..50 {
        client.write_all(b"ping").unwrap();
        client.read_exact(&mut [0; 4]).unwrap();
    }
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.packets_in, row.packets_out), (50, 50));
    assert_eq!((row.bytes_in, row.bytes_out), (200, 200));
}

#[test]
fn half_closed_client_gets_an_answer_that_comes_late() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let address = service(move |mut stream| {
        let mut request = Vec::new();
        stream.read_to_end(&mut request).unwrap();
        assert_eq!(request, b"0123456789");
        released.lock().unwrap().recv().unwrap();
        write_pattern(&mut stream, 3, MIB);
    });
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[address]));
    client.write_all(b"0123456789").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    rig.wait_until("the request arrives", |rig| rig.service(1).bytes_in == 10);
    assert_eq!(rig.service(1).active, 1);
    release.send(()).unwrap();
    let mut answer = 0;
    let mut room = [0; 4096];
    loop {
        // An error here would be the reset that half-closing must not cause.
        match client.read(&mut room).unwrap() {
            0 => break,
            got => answer += got as u64,
        }
    }
    assert_eq!(answer, MIB);
    rig.wait_until_idle();
    assert_eq!(rig.service(1).active, 0);
}

#[test]
fn service_that_finishes_first_still_gets_the_clients_bytes() {
    let (done, received) = channel();
    let address = service(move |mut stream| {
        stream.write_all(b"banner").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        done.send(read_pattern(&mut stream, 4)).unwrap();
    });
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[address]));
    let mut banner = String::new();
    client.read_to_string(&mut banner).unwrap();
    assert_eq!(banner, "banner");
    write_pattern(&mut client, 4, 3 * MIB);
    drop(client);
    assert_eq!(received.recv().unwrap(), 3 * MIB);
    rig.wait_until_idle();
}

#[test]
fn client_that_writes_and_closes_at_once_loses_no_byte() {
    let (done, received) = channel();
    let address = service(move |mut stream| {
        socket2::SockRef::from(&stream)
            .set_recv_buffer_size(32 << 10)
            .unwrap();
        done.send(read_pattern(&mut stream, 5)).unwrap();
    });
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[address]);
    for size in [1, 4095, 16_384, 65_537, 4 * MIB, 1, 300_000] {
        let mut client = connect(vserver);
        write_pattern(&mut client, 5, size);
        drop(client);
        assert_eq!(received.recv().unwrap(), size);
    }
    rig.wait_until_idle();
    assert_eq!(rig.service(1).client_resets, 0);
}

#[test]
fn client_that_finished_reads_a_long_answer_as_slowly_as_it_likes() {
    let address = service(|mut stream| write_pattern(&mut stream, 6, 16 * MIB));
    let mut rig = Rig::start(1);
    let mut client = connect(rig.serve(&[address]));
    client.shutdown(Shutdown::Write).unwrap();
    rig.wait_until("the answer is on its way", |rig| {
        rig.service(1).bytes_out > MIB
    });
    assert_eq!(read_pattern(&mut client, 6), 16 * MIB);
    rig.wait_until_idle();
}

#[test]
fn service_reset_is_a_reset_for_the_client_after_all_bytes() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let address = service(move |mut stream| {
        stream.write_all(&[7; 1000]).unwrap();
        released.lock().unwrap().recv().unwrap();
        reset(stream);
    });
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[address]));
    client.read_exact(&mut [0; 1000]).unwrap();
    release.send(()).unwrap();
    let error = client.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    rig.wait_until_idle();
    assert_eq!(rig.service(1).service_resets, 1);
}

#[test]
fn all_that_was_read_before_a_reset_arrives_at_a_slow_reader() {
    let address = service(|mut stream| {
        // What the client sent stays unread, so that closing is a reset.
        stream.peek(&mut [0; 1]).unwrap();
        write_pattern(&mut stream, 8, 200 << 10);
    });
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[address]);
    let mut delivered = 0;
    for run in 0..200 {
        let mut client = connect(vserver);
        socket2::SockRef::from(&client)
            .set_recv_buffer_size(32 << 10)
            .unwrap();
        client.write_all(b"request").unwrap();
        let (bytes, error) = read_pattern_or_error(&mut client, 8);
        assert!(bytes > 0, "run {run}");
        assert_eq!(error, Some(ErrorKind::ConnectionReset), "run {run}");
        delivered += bytes;
    }
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!(row.bytes_out, delivered);
    assert_eq!(row.service_resets, 200);
}

#[test]
fn client_reset_is_a_reset_for_the_service() {
    let (done, ended) = channel();
    let address = service(move |mut stream| {
        stream.read_exact(&mut [0; 3]).unwrap();
        let error = stream.read(&mut [0; 1]).unwrap_err();
        done.send(error.kind()).unwrap();
    });
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[address]));
    client.write_all(b"abc").unwrap();
    rig.wait_until("the bytes arrive", |rig| rig.service(1).bytes_in == 3);
    reset(client);
    assert_eq!(ended.recv().unwrap(), ErrorKind::ConnectionReset);
    rig.wait_until_idle();
    assert_eq!(rig.service(1).client_resets, 1);
}

#[test]
fn urgent_byte_stays_in_the_stream() {
    let mut rig = Rig::start(1);
    let mut client = connect(rig.serve(&[echo()]));
    for _ in 0..20 {
        client.write_all(b"before").unwrap();
        socket2::SockRef::from(&client)
            .send_out_of_band(b"!")
            .unwrap();
        client.write_all(b"after").unwrap();
        let mut answer = [0; 12];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"before!after");
    }
}

#[test]
fn service_that_speaks_first_is_heard_though_its_words_come_with_the_connect() {
    let address = service(|mut stream| stream.write_all(b"banner").unwrap());
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[address]);
    for _ in 0..1000 {
        let mut banner = String::new();
        connect(vserver).read_to_string(&mut banner).unwrap();
        assert_eq!(banner, "banner");
    }
}

#[test]
fn service_that_refuses_is_passed_over_unnoticed() {
    let (_held, refused) = refusing();
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[refused, echo()]);
    for _ in 0..4 {
        let mut client = connect(vserver);
        client.write_all(b"hello").unwrap();
        let mut answer = [0; 5];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"hello");
    }
    rig.wait_until_idle();
    let (refusing, serving) = (rig.service(1), rig.service(2));
    assert!(refusing.connect_failures > 0);
    assert_eq!((refusing.active, serving.active), (0, 0));
    assert_eq!(serving.bytes_in, 20);
}

#[test]
fn client_without_any_service_is_reset_at_once() {
    let held: Vec<_> = (0..4).map(|_| refusing()).collect();
    let addresses: Vec<_> = held.iter().map(|(_, address)| *address).collect();
    let mut rig = Rig::start(1);
    for vserver in [rig.serve(&[]), rig.serve(&addresses)] {
        let mut client = connect(vserver);
        let error = client.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    rig.wait_until_idle();
    let failures: u64 = (1..=4)
        .map(|number| rig.service(number).connect_failures)
        .sum();
    assert_eq!(failures, 3, "three services are tried for a client");
}

#[test]
fn sender_is_stopped_when_the_reader_does_not_read() {
    let (stuck, has_stuck) = channel();
    let address = service(move |mut stream| {
        stream
            .set_write_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let mut accepted = 0;
        while let Ok(bytes) = stream.write(&[0; 65_536]) {
            accepted += bytes as u64;
            if accepted > 256 * MIB {
                break;
            }
        }
        stuck.send(accepted).unwrap();
    });
    let mut rig = Rig::start(1);
    let client = connect(rig.serve(&[address]));
    let accepted = has_stuck.recv().unwrap();
    assert!(
        accepted < 32 * MIB,
        "{accepted} bytes are on their way to a reader that stands still"
    );
    drop(client);
    rig.wait_until_idle();
}

#[test]
fn silent_flow_is_ended_by_the_smaller_limit() {
    let mut rig = Rig::start(1);
    let idle = Idle {
        client: Some(Duration::from_secs(9000)),
        service: Some(Duration::from_millis(100)),
    };
    let mut client = connect(rig.serve_at([127, 99, 1, 1].into(), &[echo()], idle));
    let error = client.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    rig.wait_until_idle();
    assert_eq!(rig.service(1).idle_closes, 1);
}

#[test]
fn traffic_one_way_keeps_a_flow_alive() {
    let address = service(|mut stream| {
        for _ in 0..20 {
            stream.write_all(b".").unwrap();
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut rig = Rig::start(1);
    let limit = Some(Duration::from_millis(500));
    let idle = Idle {
        client: limit,
        service: limit,
    };
    let mut client = connect(rig.serve_at([127, 99, 1, 2].into(), &[address], idle));
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    assert_eq!(all.len(), 20);
}

#[test]
fn ipv6_clients_reach_services_of_either_family() {
    let mut rig = Rig::start(2);
    let v6 = service_at("[::1]:0", |mut stream| {
        stream.write_all(b"six").unwrap();
    });
    let v4 = service(|mut stream| stream.write_all(b"six").unwrap());
    let vserver = rig.serve_at("::1".parse().unwrap(), &[v6, v4], Idle::default());
    for _ in 0..2 {
        let mut answer = String::new();
        connect(vserver).read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "six");
    }
}

#[test]
fn closed_listener_refuses_and_its_flows_go_on() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo()]);
    let mut client = connect(vserver);
    client.write_all(b"a").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();

    let mut settings = vserver_settings(vserver, Idle::default());
    settings.listen = None;
    rig.apply(&[Change::SetVserver(VserverId(1), settings)])
        .unwrap();
    let error = TcpStream::connect(vserver).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    TcpListener::bind(vserver).unwrap();
    client.write_all(b"b").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
}

#[test]
fn removed_virtual_server_resets_its_flows_and_frees_its_address() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo()]);
    let mut clients: Vec<_> = (0..10).map(|_| connect(vserver)).collect();
    for client in &mut clients {
        client.write_all(b"a").unwrap();
        client.read_exact(&mut [0; 1]).unwrap();
    }
    rig.apply(&[Change::RemoveVserver(VserverId(1))]).unwrap();
    assert_eq!(rig.plane.flows(), 0);
    for client in &mut clients {
        let error = client.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    TcpListener::bind(vserver).unwrap();
}

#[test]
fn unbound_service_loses_its_flows_and_the_other_keeps_its_own() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo(), echo()]);
    let mut clients: Vec<_> = (0..6).map(|_| connect(vserver)).collect();
    for client in &mut clients {
        client.write_all(b"a").unwrap();
        client.read_exact(&mut [0; 1]).unwrap();
    }
    rig.apply(&[Change::Unbind(VserverId(1), ServiceId(1))])
        .unwrap();
    assert_eq!(rig.plane.flows(), 3);
    assert_eq!((rig.service(1).active, rig.service(2).active), (0, 3));
}

#[test]
fn address_in_use_is_told_and_nothing_changes() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo()]);
    let foreign = TcpListener::bind("127.99.1.3:0").unwrap();
    for taken in [vserver, foreign.local_addr().unwrap()] {
        let add = Change::AddVserver(VserverId(9), vserver_settings(taken, Idle::default()));
        let error = rig.apply(&[add]).unwrap_err();
        assert!(matches!(error, PrepareError::AddressInUse { address, .. } if address == taken));
    }
    assert_eq!(rig.plane.snapshot().vservers.len(), 1);
}

#[test]
fn drain_refuses_new_clients_and_lets_the_others_finish() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo()]);
    let mut client = connect(vserver);
    client.write_all(b"a").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
    rig.plane.drain();
    let error = TcpStream::connect(vserver).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(rig.plane.flows(), 1);
    client.write_all(b"b").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
    drop(client);
    rig.wait_until_idle();
}

#[test]
fn shutdown_resets_what_is_left() {
    let mut rig = Rig::start(2);
    let mut client = connect(rig.serve(&[echo()]));
    client.write_all(b"a").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
    rig.plane.shutdown();
    let error = client.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn connections_are_spread_while_their_counts_are_exact() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo(), echo(), echo()]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..75 {
                    let mut client = connect(vserver);
                    client.set_read_timeout(Some(PATIENCE)).unwrap();
                    client.write_all(b"0123456789").unwrap();
                    client.read_exact(&mut [0; 10]).unwrap();
                }
            });
        }
    });
    rig.wait_until_idle();
    for number in 1..=3 {
        let row = rig.service(number);
        assert_eq!((row.hits, row.active), (100, 0));
        assert_eq!((row.bytes_in, row.bytes_out), (1000, 1000));
    }
}
