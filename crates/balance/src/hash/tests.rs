//! Known values, made with another implementation of the same function (the C library, version 0.8).

use super::*;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

#[test]
fn keys_of_clients_never_change() {
    let whole = HashSettings::default();
    let v4 = address("198.51.100.7:40000");
    let v6 = address("[2001:db8::1]:1");
    let dialled = address("192.0.2.1:80");
    assert_eq!(Key::of_address(v4, &whole), Key(0xf8ff_ccfa_d1d6_b127));
    assert_eq!(Key::of_address(v6, &whole), Key(0xa99e_23a4_d508_23b7));
    assert_eq!(Key::of_addresses(v4, dialled), Key(0xb3a6_28d1_2e07_111e));
    assert_eq!(Key::of_addresses(v6, v6), Key(0xc429_0feb_21ed_4ea7));
    assert_eq!(Key::of_address_and_port(v4), Key(0x5261_2a96_3bfd_0de7));
    assert_eq!(
        crate::Token::of(b"session 7").key(),
        Key(0x5859_7695_592b_c9e8)
    );
}

#[test]
fn identities_of_services_and_scores_never_change() {
    let service = Identity::new(address("10.1.0.1:8000"), None);
    assert_eq!(service.deciding(true), 0xa479_a4a9_a978_701b);
    assert_eq!(service.deciding(false), 0x2b1a_9b1c_0faa_f7a1);
    let mapped = Identity::new(address("[::ffff:10.1.0.1]:8000"), None);
    assert_eq!(mapped, service);
    let named = Identity::new(address("10.1.0.1:8000"), Some(77));
    assert_eq!(named.deciding(true), 0xb531_ddf3_78f0_ba84);
    assert_eq!(named.deciding(false), named.deciding(true));

    let client = address("198.51.100.7:1");
    let key = Key::of_address(client, &HashSettings::default());
    assert_eq!(key.score(service.deciding(true)), 0x6d9b_463c_04a7_bcbe);
}
