//! Who is one client: what each method looks at, masks, and the two ways to write an address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use sluice_balance::{AddressMask, FlowKey, HashAlgorithm, Instant, Method, TokenRange};

use super::{Bench, flow, with_token};
use crate::rig::V;

fn bench(method: Method) -> Bench {
    Bench::new(method, HashAlgorithm::Default, &[1; 50])
}

fn mask(v4: [u8; 4], v6: u64) -> AddressMask {
    AddressMask::new(v4.into(), v6).unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns how many services 200 flows have that `vary` makes from a number.
fn spread(method: Method, vary: impl Fn(u8) -> FlowKey) -> usize {
    let mut bench = bench(method);
    let chosen: Vec<_> = (0..200).map(|number| bench.pick(&vary(number))).collect();
    super::counts(&chosen).len()
}

/// A flow of one client to one address, of which three parts can be changed.
fn base() -> FlowKey {
    flow(ip("198.51.100.7"), 40_000)
}

fn other_source(number: u8) -> FlowKey {
    flow(IpAddr::from([198, 51, 100, number]), 40_000)
}

fn other_port(number: u8) -> FlowKey {
    flow(ip("198.51.100.7"), 40_000 + u16::from(number))
}

fn other_destination(number: u8) -> FlowKey {
    FlowKey {
        dst: SocketAddr::from((Ipv4Addr::new(192, 0, 2, number), 80)),
        ..base()
    }
}

fn other_dialled_port(number: u8) -> FlowKey {
    FlowKey {
        dst: SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 80 + u16::from(number))),
        ..base()
    }
}

#[test]
fn each_method_looks_at_its_own_part_of_a_flow_and_at_nothing_else() {
    use Method::{DestinationIpHash, SourceIpHash, SrcIpDestIpHash, SrcIpSrcPortHash};
    let varied = |method| {
        let vary = [
            other_source,
            other_port,
            other_destination,
            other_dialled_port,
        ];
        vary.map(|vary| spread(method, vary) > 1)
    };
    assert_eq!(varied(SourceIpHash), [true, false, false, false]);
    assert_eq!(varied(DestinationIpHash), [false, false, true, false]);
    assert_eq!(varied(SrcIpDestIpHash), [true, false, true, false]);
    assert_eq!(varied(SrcIpSrcPortHash), [true, true, false, false]);
}

#[test]
fn what_a_method_looks_at_spreads_flows_over_nearly_all_services() {
    // 200 flows leave 50 * (49/50)^200, one service, without any on average.
    for (method, vary) in [
        (Method::SourceIpHash, other_source as fn(u8) -> FlowKey),
        (Method::DestinationIpHash, other_destination),
        (Method::SrcIpDestIpHash, other_destination),
        (Method::SrcIpSrcPortHash, other_port),
    ] {
        let spread = spread(method, vary);
        assert!(spread >= 45, "{method:?}: {spread}");
    }
}

#[test]
fn netmask_makes_one_client_of_a_network() {
    let mut bench = bench(Method::SourceIpHash);
    bench.set_hash(|hash| hash.mask = mask([255, 255, 0, 255], 128));
    let chosen = bench.pick(&flow(ip("203.0.113.9"), 1));
    for third in 0..=255 {
        let flow = flow(IpAddr::from([203, 0, third, 9]), 1);
        assert_eq!(bench.pick(&flow), chosen);
    }
    let others = (0..=255).map(|last| bench.pick(&flow(IpAddr::from([203, 0, 113, last]), 1)));
    assert!(others.filter(|other| *other != chosen).count() > 200);
}

#[test]
fn v6_netmask_length_makes_one_client_of_a_prefix() {
    for (bits, is_one) in [(128, false), (65, false), (64, true), (48, true)] {
        let mut bench = bench(Method::SourceIpHash);
        bench.set_hash(|hash| hash.mask = mask([255; 4], bits));
        let mut chosen = (0..64_u128).map(|number| {
            let address = (0x2001_0db8_u128 << 96) | number.reverse_bits() >> 64;
            bench.pick(&flow(IpAddr::V6(address.into()), 1))
        });
        let first = chosen.next().unwrap();
        assert_eq!(chosen.all(|other| other == first), is_one, "{bits} bits");
    }
}

#[test]
fn mask_is_for_the_methods_with_one_address() {
    let mut bench = bench(Method::DestinationIpHash);
    bench.set_hash(|hash| hash.mask = mask([255, 255, 255, 0], 128));
    let chosen = bench.pick(&base());
    assert!((0..200).all(|number| bench.pick(&other_destination(number)) == chosen));
    for method in [Method::SrcIpDestIpHash, Method::SrcIpSrcPortHash] {
        let mut masked = Bench::new(method, HashAlgorithm::Default, &[1; 50]);
        let mut whole = Bench::new(method, HashAlgorithm::Default, &[1; 50]);
        masked.set_hash(|hash| hash.mask = mask([255, 0, 0, 0], 128));
        for number in 0..200 {
            assert_eq!(
                masked.pick(&other_source(number)),
                whole.pick(&other_source(number))
            );
        }
    }
}

#[test]
fn v4_client_written_as_v6_is_the_same_client() {
    for method in [
        Method::SourceIpHash,
        Method::DestinationIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
    ] {
        let mut bench = bench(method);
        bench.set_hash(|hash| hash.mask = mask([255, 255, 255, 240], 8));
        for number in 0..200 {
            let plain = other_source(number);
            let mapped = |address: SocketAddr| match address.ip() {
                IpAddr::V4(v4) => SocketAddr::new(v4.to_ipv6_mapped().into(), address.port()),
                IpAddr::V6(_) => address,
            };
            let written = FlowKey {
                src: mapped(plain.src),
                dst: mapped(plain.dst),
                token: None,
            };
            assert_eq!(bench.pick(&written), bench.pick(&plain), "{method:?}");
        }
    }
}

#[test]
fn token_decides_whoever_sends_it() {
    let mut bench = bench(Method::Token(TokenRange::FIRST_BYTE));
    let chosen = bench.pick(&with_token(base(), b"session 7"));
    assert!((0..200).all(|n| bench.pick(&with_token(other_source(n), b"session 7")) == chosen));
    let others = (0..200_u8).map(|n| bench.pick(&with_token(base(), &[n])));
    assert!(super::counts(&others.collect::<Vec<_>>()).len() >= 45);
}

#[test]
fn without_a_token_the_fewest_connections_decide() {
    let mut bench = Bench::new(
        Method::Token(TokenRange::FIRST_BYTE),
        HashAlgorithm::Default,
        &[1; 4],
    );
    let now = Instant::default();
    let mut chosen = Vec::new();
    for _ in 0..8 {
        let selection = bench.engine.select(V, &base(), &[], now).unwrap();
        chosen.push(selection.reservation.service().0);
    }
    assert_eq!(chosen, [1, 2, 3, 4, 1, 2, 3, 4]);
}
