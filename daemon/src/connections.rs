//! What `show ns connectiontable` answers: the open flows with names in place of numbers.

use std::net::SocketAddr;
use std::time::Duration;

use sluice_balance::{Protocol, ServiceId, VserverId};
use sluice_command::{Command, ConnectionFacts, ConnectionFilter, Fault, Key};
use sluice_config::{Config, Vserver};
use sluice_dataplane::{ChosenService, FlowCursor, FlowPage, FlowState, FlowStatus};
use sluice_protocol::{Connection, ConnectionService, Row};

use crate::explain;

/// The connections to be shown.
#[derive(Debug, PartialEq)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<Row>,
    /// Says that there are more.
    pub(crate) warning: Option<String>,
}

/// Returns the connections that `command` asks for, by protocol and client; `page` is asked for one
/// part after the other.
///
/// # Errors
/// The filter is none.
pub(crate) fn show(
    config: &Config,
    command: &Command,
    most: usize,
    mut page: impl FnMut(FlowCursor) -> FlowPage,
) -> Result<Listing, Fault> {
    let filter = command.text(Key::FilterExpression);
    let filter = filter.map(ConnectionFilter::parse).transpose()?;
    let names = Names(config);
    let (mut found, mut total) = (Vec::new(), 0_usize);
    let mut next = Some(FlowCursor::default());
    while let Some(from) = next {
        let part = page(from);
        next = part.next;
        for mut flow in part.rows {
            flow.client = canonical(flow.client);
            flow.dialled_at = canonical(flow.dialled_at);
            if filter
                .as_ref()
                .is_none_or(|filter| names.matches(filter, &flow))
            {
                total += 1;
                if found.len() < most {
                    found.push(flow);
                }
            }
        }
    }
    found.sort_by_key(|flow| (flow.protocol == Protocol::Udp, flow.client, flow.dialled_at));
    let warning = (total > found.len())
        .then(|| format!("only {} of {total} connections are shown", found.len()));
    Ok(Listing {
        rows: found.iter().map(|flow| names.row(flow)).collect(),
        warning,
    })
}

/// Finds the names of what the data plane knows by number.
struct Names<'a>(&'a Config);

impl<'a> Names<'a> {
    fn vserver(&self, id: VserverId) -> Option<&'a str> {
        self.0.vserver_by_id(id).map(Vserver::name)
    }

    fn service(&self, id: ServiceId) -> Option<&'a str> {
        self.0.service_by_id(id).map(sluice_config::Service::name)
    }

    fn service_type(&self, flow: &FlowStatus) -> Option<&'static str> {
        let vserver = self.0.vserver_by_id(flow.dialled);
        vserver.map(|vserver| vserver.service_type().name())
    }

    fn matches(&self, filter: &ConnectionFilter, flow: &FlowStatus) -> bool {
        let dialled = self.vserver(flow.dialled).unwrap_or_default();
        let serves = flow.service.and_then(|chosen| self.vserver(chosen.vserver));
        let service = flow.service.and_then(|chosen| self.service(chosen.service));
        filter.matches(&ConnectionFacts {
            source: flow.client,
            destination: flow.dialled_at,
            idle_s: flow.idle.as_secs(),
            service_type: self.service_type(flow).unwrap_or_default(),
            state: state(flow.state),
            service: service.unwrap_or_default(),
            vservers: [dialled, serves.unwrap_or(dialled)],
        })
    }

    fn row(&self, flow: &FlowStatus) -> Row {
        let protocol = match flow.protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        };
        Row::Connection(Connection {
            source: flow.client.ip().to_string(),
            source_port: flow.client.port().into(),
            destination: flow.dialled_at.ip().to_string(),
            destination_port: flow.dialled_at.port().into(),
            protocol: protocol.to_owned(),
            service_type: self.service_type(flow).map(str::to_owned),
            state: state(flow.state).to_owned(),
            vserver: self.vserver(flow.dialled).map(str::to_owned),
            service: flow.service.map(|chosen| self.chosen(&chosen)),
            age_ms: milliseconds(flow.age),
            idle_ms: milliseconds(flow.idle),
            request_bytes: flow.bytes[0],
            response_bytes: flow.bytes[1],
        })
    }

    fn chosen(&self, chosen: &ChosenService) -> ConnectionService {
        let rule = chosen.grounds.map(explain::grounds);
        ConnectionService {
            name: self.service(chosen.service).map(str::to_owned),
            address: chosen.address.ip().to_string(),
            port: chosen.address.port().into(),
            vserver: self.vserver(chosen.vserver).map(str::to_owned),
            diversion: chosen
                .diversion
                .map(|why| explain::diversion_word(why).to_owned()),
            method: explain::method(chosen.method).to_owned(),
            rule: rule.unwrap_or(explain::PERSISTENCE).to_owned(),
        }
    }
}

fn state(state: FlowState) -> &'static str {
    match state {
        FlowState::Connecting => "SYN_SENT",
        FlowState::AwaitsClient | FlowState::Established => "ESTABLISHED",
        FlowState::ClientFinished => "CLOSE_WAIT",
        FlowState::ServiceFinished => "FIN_WAIT_2",
        FlowState::Closing => "CLOSING",
        FlowState::Session => "NOT_APPLICABLE",
    }
}

/// An IPv4 client of an IPv6 socket is shown and found by its IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn milliseconds(length: Duration) -> u64 {
    length.as_millis().try_into().unwrap_or(u64::MAX)
}

/// An answer is held in memory as a whole: at some 400 bytes a row, these are 25 MiB.
pub(crate) const MOST_SHOWN: usize = 1 << 16;

#[cfg(test)]
mod tests;
