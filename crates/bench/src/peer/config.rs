//! Configurations: each peer offers the four services over the three addresses, in turn.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use super::Peer;
use crate::lab::SERVICES;
use crate::load::server::{ECHO, SINK, SOURCE, UDP_ECHO};

/// The TCP services.
const TCP: [u16; 3] = [ECHO, SINK, SOURCE];

/// Returns the configuration of a peer that has one; `folder` is where it may write.
pub(super) fn text(peer: Peer, folder: &Path) -> String {
    match peer {
        Peer::Direct => String::new(),
        Peer::Nft => nft(),
        Peer::Sluice => sluice(),
        Peer::HaproxyDefault => haproxy(peer, "", "  option splice-auto\n"),
        Peer::HaproxyTuned => haproxy(
            peer,
            "  tune.bufsize 131072\n  tune.pipesize 1048576\n  tune.maxpollevents 256\n",
            "  option splice-request\n  option splice-response\n",
        ),
        Peer::NginxDefault => nginx(peer, folder, ""),
        Peer::NginxTuned => nginx(
            peer,
            folder,
            "    proxy_buffer_size 256k;\n    proxy_half_close on;\n",
        ),
        Peer::Envoy => envoy(peer),
    }
}

fn sluice() -> String {
    let mut text = String::new();
    for (number, address) in SERVICES.iter().enumerate() {
        let _ = writeln!(text, "add server s{number} {address}");
    }
    for port in TCP.into_iter().chain([UDP_ECHO]) {
        let kind = if port == UDP_ECHO { "UDP" } else { "TCP" };
        let at = Peer::Sluice.offers(port);
        let _ = writeln!(
            text,
            "add lb vserver v{port} {kind} {} {} -lbMethod ROUNDROBIN",
            at.ip(),
            at.port()
        );
        for number in 0..SERVICES.len() {
            let _ = writeln!(text, "add service s{number}-{port} s{number} {kind} {port}");
            let _ = writeln!(text, "bind lb vserver v{port} s{number}-{port}");
        }
    }
    text
}

fn haproxy(peer: Peer, global: &str, defaults: &str) -> String {
    let mut text = format!(
        "global\n  maxconn 9200\n  maxpipes 400\n  nbthread 2\n{global}\
         defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 10m\n  timeout server 10m\n\
         {defaults}"
    );
    for port in TCP {
        let _ = writeln!(
            text,
            "listen l{port}\n  bind {}\n  balance roundrobin",
            peer.offers(port)
        );
        for (number, service) in services(port).iter().enumerate() {
            let _ = writeln!(text, "  server s{number} {service}");
        }
    }
    text
}

fn nginx(peer: Peer, folder: &Path, more: &str) -> String {
    let folder = folder.display();
    let mut text = format!(
        "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nuser root;\n\
         worker_processes 2;\nworker_rlimit_nofile 20000;\npid {folder}/nginx.pid;\n\
         error_log {folder}/nginx.log crit;\nevents {{ worker_connections 19900; }}\nstream {{\n"
    );
    for port in TCP.into_iter().chain([UDP_ECHO]) {
        let servers: String = services(port)
            .iter()
            .map(|at| format!(" server {at};"))
            .collect();
        let (listen, limit) = if port == UDP_ECHO {
            ("udp reuseport", "30s")
        } else {
            ("reuseport backlog=16384", "10m")
        };
        let more = if port == UDP_ECHO { "" } else { more };
        let at = peer.offers(port);
        let _ = write!(
            text,
            "  upstream u{port} {{{servers} }}\n  server {{\n    listen {at} {listen};\n    \
             proxy_pass u{port};\n    proxy_timeout {limit};\n{more}  }}\n"
        );
    }
    text + "}\n"
}

fn nft() -> String {
    let mut rules = String::new();
    let targets: Vec<_> = SERVICES
        .iter()
        .enumerate()
        .map(|(number, address)| format!("{number} : {address}"))
        .collect();
    let targets = targets.join(", ");
    for port in TCP.into_iter().chain([UDP_ECHO]) {
        let kind = if port == UDP_ECHO { "udp" } else { "tcp" };
        let at = Peer::Nft.offers(port);
        let _ = writeln!(
            rules,
            "    ip daddr {} {kind} dport {} dnat ip to numgen inc mod 3 map {{ {targets} }}:{port}",
            at.ip(),
            at.port()
        );
    }
    format!(
        "table ip {NFT_TABLE} {{\n  chain pre {{\n    type nat hook prerouting priority dstnat;\n\
         {rules}  }}\n}}\n"
    )
}

/// The table of the rules, in the balancer's namespace.
pub(super) const NFT_TABLE: &str = "slbench";

fn envoy(peer: Peer) -> String {
    let mut listeners = String::new();
    let mut clusters = String::new();
    for port in TCP.into_iter().chain([UDP_ECHO]) {
        listeners += &envoy_listener(peer.offers(port), port);
        let endpoints: String = services(port)
            .iter()
            .map(|at| {
                format!(
                    "        - endpoint: {{ address: {} }}\n",
                    envoy_address(*at, port)
                )
            })
            .collect();
        let _ = write!(
            clusters,
            "  - name: c{port}\n    connect_timeout: 5s\n    type: STATIC\n    \
             lb_policy: ROUND_ROBIN\n    circuit_breakers: {{ thresholds: [ {{ max_connections: 20000 }} ] }}\n    \
             load_assignment:\n      cluster_name: c{port}\n      endpoints:\n      - lb_endpoints:\n{endpoints}"
        );
    }
    format!("static_resources:\n  listeners:\n{listeners}  clusters:\n{clusters}")
}

fn envoy_address(at: SocketAddr, port: u16) -> String {
    let protocol = if port == UDP_ECHO {
        "protocol: UDP, "
    } else {
        ""
    };
    format!(
        "{{ socket_address: {{ {protocol}address: {}, port_value: {} }} }}",
        at.ip(),
        at.port()
    )
}

fn envoy_listener(at: SocketAddr, port: u16) -> String {
    let address = envoy_address(at, port);
    let types = "type.googleapis.com/envoy.extensions.filters";
    if port == UDP_ECHO {
        return format!(
            "  - name: l{port}\n    address: {address}\n    listener_filters:\n    \
             - name: envoy.filters.udp_listener.udp_proxy\n      typed_config:\n        \
             \"@type\": {types}.udp.udp_proxy.v3.UdpProxyConfig\n        stat_prefix: l{port}\n        \
             matcher:\n          on_no_match:\n            action:\n              name: route\n              \
             typed_config:\n                \"@type\": {types}.udp.udp_proxy.v3.Route\n                \
             cluster: c{port}\n"
        );
    }
    format!(
        "  - name: l{port}\n    address: {address}\n    filter_chains:\n    - filters:\n      \
         - name: envoy.filters.network.tcp_proxy\n        typed_config:\n          \
         \"@type\": {types}.network.tcp_proxy.v3.TcpProxy\n          stat_prefix: l{port}\n          \
         cluster: c{port}\n"
    )
}

fn services(port: u16) -> Vec<SocketAddr> {
    SERVICES
        .iter()
        .map(|address| SocketAddr::new(*address, port))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALANCERS: [Peer; 7] = [
        Peer::Nft,
        Peer::Sluice,
        Peer::HaproxyDefault,
        Peer::HaproxyTuned,
        Peer::NginxDefault,
        Peer::NginxTuned,
        Peer::Envoy,
    ];

    #[test]
    fn every_balancer_offers_each_service_over_the_three_addresses() {
        for peer in BALANCERS {
            let text = text(peer, Path::new("/folder"));
            let udp = peer.has_udp().then_some(UDP_ECHO);
            for port in TCP.into_iter().chain(udp) {
                let at = peer.offers(port);
                assert!(text.contains(&at.ip().to_string()), "{text}");
                assert!(text.contains(&at.port().to_string()), "{at} in {text}");
                assert!(text.contains(&port.to_string()), "{port} in {text}");
            }
            for address in SERVICES {
                assert!(text.contains(&address.to_string()), "{address} in {text}");
            }
        }
    }

    #[test]
    fn no_two_peers_offer_at_one_place() {
        let ports = TCP.into_iter().chain([UDP_ECHO]);
        let all = BALANCERS.map(|peer| ports.clone().map(move |port| peer.offers(port)));
        let all: Vec<_> = all.into_iter().flatten().collect();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
