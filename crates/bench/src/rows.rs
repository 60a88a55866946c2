//! What is measured: the rows of the table, the figures of each, and what is promised of them.

use serde::{Deserialize, Serialize};

use crate::load::sample::Sample;
use crate::load::server::{ECHO, SINK, SOURCE, UDP_ECHO};
use crate::peer::Peer;

/// One kind of load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// What the load generator is told, without address and seconds.
    pub(crate) words: &'static [&'static str],
    /// The port of the service.
    pub(crate) port: u16,
    pub(crate) figures: &'static [Figure],
}

/// One number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Figure {
    /// 10^9 bits per second.
    Gigabits,
    /// Answered connections, requests or datagrams per second.
    Rate,
    /// The median time of an answer, in microseconds.
    P50,
    /// The time of an answer that 1 of 100 is above, in microseconds.
    P99,
    /// Datagrams without an answer, in percent.
    Loss,
    /// Processor seconds of the balancer per 10^9 bytes.
    CpuPerGigabyte,
    /// Processor microseconds of the balancer per connection, request or datagram and answer.
    CpuPerOperation,
    /// Bytes of memory per idle connection: shared pages divided, from 1,000 to 9,000.
    IdleProportional,
    /// Bytes of memory per idle connection: what is resident at 4,000.
    IdleResident,
    /// Processor time with 9,000 idle connections, in percent of one core.
    IdleCpu,
}

impl Figure {
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Gigabits => "Gbit/s",
            Self::Rate => "/s",
            Self::P50 => "p50 us",
            Self::P99 => "p99 us",
            Self::Loss => "loss %",
            Self::CpuPerGigabyte => "CPU s/GB",
            Self::CpuPerOperation => "CPU us/op",
            Self::IdleProportional => "bytes/conn",
            Self::IdleResident => "RSS bytes/conn",
            Self::IdleCpu => "CPU %",
        }
    }

    /// Whether more is better.
    pub(crate) fn is_more_better(self) -> bool {
        matches!(self, Self::Gigabits | Self::Rate)
    }

    /// Whether ratios of it say something: one of two nothings does not.
    pub(crate) fn has_ratio(self) -> bool {
        !matches!(self, Self::Loss | Self::IdleCpu)
    }

    /// Whether it is of a process.
    fn needs_process(self) -> bool {
        match self {
            Self::Gigabits | Self::Rate | Self::P50 | Self::P99 | Self::Loss => false,
            Self::CpuPerGigabyte
            | Self::CpuPerOperation
            | Self::IdleProportional
            | Self::IdleResident
            | Self::IdleCpu => true,
        }
    }

    /// Returns the number from what a client saw and the balancer's processor time, for rows of a
    /// client; `None` where it does not apply.
    pub(crate) fn of(self, sample: &Sample, cpu_seconds: f64) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
        let operations = sample.operations as f64;
        let per_operation = (operations > 0.0).then(|| cpu_seconds / operations);
        match self {
            Self::Gigabits => Some(sample.rate / 1e9),
            Self::Rate => Some(sample.rate),
            Self::P50 => Some(sample.p50_us),
            Self::P99 => Some(sample.p99_us),
            Self::Loss => Some(sample.loss_percent),
            Self::CpuPerGigabyte => Some(per_operation? * 1e9),
            Self::CpuPerOperation => Some(per_operation? * 1e6),
            Self::IdleProportional | Self::IdleResident | Self::IdleCpu => None,
        }
    }
}

impl Row {
    /// Whether a peer can be measured in this row.
    pub(crate) fn takes(&self, peer: Peer) -> bool {
        self.port != UDP_ECHO || peer.has_udp()
    }

    /// Whether a peer has this figure.
    pub(crate) fn has(figure: Figure, peer: Peer) -> bool {
        peer.has_process() || !figure.needs_process()
    }
}

const STREAM: &[Figure] = &[Figure::Gigabits, Figure::CpuPerGigabyte];
const ANSWERS: &[Figure] = &[
    Figure::Rate,
    Figure::P50,
    Figure::P99,
    Figure::CpuPerOperation,
];
const TIMES: &[Figure] = &[Figure::P50, Figure::P99];
const DATAGRAMS: &[Figure] = &[Figure::Rate, Figure::Loss, Figure::CpuPerOperation];
const LOSSES: &[Figure] = &[Figure::Loss, Figure::P99];

/// All rows of clients, in the order of the table.
pub(crate) const ROWS: &[Row] = &[
    row("bulk-1-up", &["bulk"], SINK, STREAM),
    row("bulk-16-up", &["bulk", "--count=16"], SINK, STREAM),
    row("bulk-1-down", &["bulk", "--direction=down"], SOURCE, STREAM),
    row(
        "bulk-16-down",
        &["bulk", "--direction=down", "--count=16"],
        SOURCE,
        STREAM,
    ),
    row("connections", &["connections", "--count=64"], ECHO, ANSWERS),
    row("ping-pong-1", &["ping-pong"], ECHO, ANSWERS),
    row("ping-pong-64", &["ping-pong", "--count=64"], ECHO, ANSWERS),
    row(
        "ping-pong-1000",
        &["ping-pong", "--count=1000"],
        ECHO,
        ANSWERS,
    ),
    row(
        "ping-pong-64-at-5k",
        &["ping-pong", "--count=64", "--rate=5000"],
        ECHO,
        TIMES,
    ),
    row("udp-1-64B", &["udp", "--window=64"], UDP_ECHO, DATAGRAMS),
    row(
        "udp-1-1200B",
        &["udp", "--window=64", "--size=1200"],
        UDP_ECHO,
        DATAGRAMS,
    ),
    row(
        "udp-1000-64B",
        &["udp", "--count=1000"],
        UDP_ECHO,
        DATAGRAMS,
    ),
    row(
        "udp-1000-1200B",
        &["udp", "--count=1000", "--size=1200"],
        UDP_ECHO,
        DATAGRAMS,
    ),
    row("udp-1-at-50k", &["udp", "--rate=50000"], UDP_ECHO, LOSSES),
    row(
        "udp-1000-at-50k",
        &["udp", "--count=1000", "--rate=50000"],
        UDP_ECHO,
        LOSSES,
    ),
];

/// The name of the row of connections that do nothing.
pub(crate) const IDLE: &str = "idle";

const fn row(
    name: &'static str,
    words: &'static [&'static str],
    port: u16,
    figures: &'static [Figure],
) -> Row {
    Row {
        name,
        words,
        port,
        figures,
    }
}

/// What is promised of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    pub(crate) row: &'static str,
    pub(crate) figure: Figure,
    pub(crate) bound: Bound,
}

/// A bound on our figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// At least so many times the largest of these peers.
    AtLeast(f64, &'static [Peer]),
    /// At most so many times that of a peer.
    AtMost(f64, Peer),
    /// At most this number.
    Most(f64),
}

const HAPROXY: &[Peer] = &[Peer::HaproxyDefault];
const TUNED: &[Peer] = &[Peer::HaproxyTuned];
const DEFAULTS: &[Peer] = &[Peer::HaproxyDefault, Peer::NginxDefault];
const NGINX: &[Peer] = &[Peer::NginxDefault];

/// The floors that hold with our defaults.
pub(crate) const FLOORS: &[Floor] = &[
    floor("bulk-1-up", Figure::Gigabits, Bound::AtLeast(2.5, HAPROXY)),
    floor(
        "bulk-1-down",
        Figure::Gigabits,
        Bound::AtLeast(2.5, HAPROXY),
    ),
    floor("bulk-16-up", Figure::Gigabits, Bound::AtLeast(3.0, HAPROXY)),
    floor(
        "bulk-16-down",
        Figure::Gigabits,
        Bound::AtLeast(3.0, HAPROXY),
    ),
    floor("bulk-1-up", Figure::Gigabits, Bound::AtLeast(0.95, TUNED)),
    floor("bulk-1-down", Figure::Gigabits, Bound::AtLeast(0.95, TUNED)),
    floor("bulk-16-up", Figure::Gigabits, Bound::AtLeast(0.95, TUNED)),
    floor(
        "bulk-16-down",
        Figure::Gigabits,
        Bound::AtLeast(0.95, TUNED),
    ),
    floor(
        "bulk-16-up",
        Figure::CpuPerGigabyte,
        Bound::AtMost(0.20, Peer::HaproxyDefault),
    ),
    floor(
        "bulk-16-down",
        Figure::CpuPerGigabyte,
        Bound::AtMost(0.20, Peer::HaproxyDefault),
    ),
    floor("connections", Figure::Rate, Bound::AtLeast(1.05, DEFAULTS)),
    floor(
        "connections",
        Figure::CpuPerOperation,
        Bound::AtMost(0.75, Peer::HaproxyDefault),
    ),
    floor("ping-pong-64", Figure::Rate, Bound::AtLeast(1.15, DEFAULTS)),
    floor(
        "ping-pong-1000",
        Figure::Rate,
        Bound::AtLeast(1.15, DEFAULTS),
    ),
    floor(
        "ping-pong-1",
        Figure::P50,
        Bound::AtMost(0.90, Peer::HaproxyDefault),
    ),
    floor(
        "ping-pong-64-at-5k",
        Figure::P50,
        Bound::AtMost(0.90, Peer::HaproxyDefault),
    ),
    floor(IDLE, Figure::IdleProportional, Bound::Most(1024.0)),
    floor(IDLE, Figure::IdleResident, Bound::Most(4096.0)),
    floor(IDLE, Figure::IdleCpu, Bound::Most(0.5)),
    floor("udp-1-64B", Figure::Rate, Bound::AtLeast(1.4, NGINX)),
    floor("udp-1000-64B", Figure::Rate, Bound::AtLeast(1.4, NGINX)),
    floor(
        "udp-1000-64B",
        Figure::CpuPerOperation,
        Bound::AtMost(0.55, Peer::NginxDefault),
    ),
    floor("udp-1-at-50k", Figure::Loss, Bound::Most(0.0)),
    floor("udp-1000-at-50k", Figure::Loss, Bound::Most(0.0)),
];

const fn floor(row: &'static str, figure: Figure, bound: Bound) -> Floor {
    Floor { row, figure, bound }
}
