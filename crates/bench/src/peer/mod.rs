//! Who is measured: their configurations, how they are started, and their processes.

mod config;
mod process;

use crate::lab::{BALANCER, SERVICES};
use crate::load::server::ECHO;

pub(crate) use process::Running;

/// One of those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// Client and service without a balancer, routed.
    Direct,
    /// The kernel's own: destination addresses rewritten by nft.
    Nft,
    Sluice,
    HaproxyDefault,
    HaproxyTuned,
    NginxDefault,
    NginxTuned,
    Envoy,
}

impl Peer {
    pub(crate) const ALL: [Self; 8] = [
        Self::Direct,
        Self::Nft,
        Self::Sluice,
        Self::HaproxyDefault,
        Self::HaproxyTuned,
        Self::NginxDefault,
        Self::NginxTuned,
        Self::Envoy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nft => "nft",
            Self::Sluice => "sluice",
            Self::HaproxyDefault => "haproxy",
            Self::HaproxyTuned => "haproxy-tuned",
            Self::NginxDefault => "nginx",
            Self::NginxTuned => "nginx-tuned",
            Self::Envoy => "envoy",
        }
    }

    /// Whether it is another relay in user space: one of those to be ahead of.
    pub(crate) fn is_rival(self) -> bool {
        match self {
            Self::Direct | Self::Nft | Self::Sluice => false,
            Self::HaproxyDefault
            | Self::HaproxyTuned
            | Self::NginxDefault
            | Self::NginxTuned
            | Self::Envoy => true,
        }
    }

    /// Whether it has a process whose time and memory can be read.
    pub(crate) fn has_process(self) -> bool {
        !matches!(self, Self::Direct | Self::Nft)
    }

    /// Whether it relays datagrams.
    pub(crate) fn has_udp(self) -> bool {
        !matches!(self, Self::HaproxyDefault | Self::HaproxyTuned)
    }

    /// Returns the address and port at which it offers what the services have at `port`.
    pub(crate) fn offers(self, port: u16) -> std::net::SocketAddr {
        let base = match self {
            Self::Direct => return (SERVICES[0], port).into(),
            Self::Nft => 9000,
            Self::Sluice => 9010,
            Self::HaproxyDefault => 9020,
            Self::HaproxyTuned => 9030,
            Self::NginxDefault => 9040,
            Self::NginxTuned => 9050,
            Self::Envoy => 9060,
        };
        (BALANCER, base + (port - ECHO)).into()
    }
}
