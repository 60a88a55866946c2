//! The clients of services that go out of service: who has been there for longest, and who is silent.
//!
//! Looked up only while somebody asks for a service that goes out of service: it takes going through all flows.

use std::collections::HashMap;

use sluice_balance::{ServiceId, Snapshot};
use sluice_dataplane::{FlowCursor, FlowPage, FlowStatus};
use sluice_protocol::DrainClient;

/// Those of each service that goes out of service and has any.
pub(crate) type Notable = HashMap<ServiceId, NotableClients>;

/// Two clients of a service, or one twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotableClients {
    /// Who has been there for longest.
    pub(crate) oldest: FlowStatus,
    /// Over whose flow nothing has passed for longest.
    pub(crate) idlest: FlowStatus,
}

/// Finds them; `page` is asked for one part of all flows after the other.
pub(crate) fn notable(
    snapshot: &Snapshot,
    mut page: impl FnMut(FlowCursor) -> FlowPage,
) -> Notable {
    let mut found = Notable::new();
    let services = snapshot.services.iter();
    let going: Vec<ServiceId> = services
        .filter(|service| service.drain.is_some())
        .map(|service| service.id)
        .collect();
    let mut next = (!going.is_empty()).then(FlowCursor::default);
    while let Some(from) = next {
        let part = page(from);
        next = part.next;
        for flow in part.rows {
            if let Some(chosen) = flow
                .service
                .filter(|chosen| going.contains(&chosen.service))
            {
                note(&mut found, chosen.service, flow);
            }
        }
    }
    found
}

fn note(found: &mut Notable, service: ServiceId, flow: FlowStatus) {
    let known = found.entry(service).or_insert(NotableClients {
        oldest: flow,
        idlest: flow,
    });
    if flow.age > known.oldest.age {
        known.oldest = flow;
    }
    if flow.idle > known.idlest.idle {
        known.idlest = flow;
    }
}

/// Returns the row of a client.
pub(crate) fn client(flow: &FlowStatus) -> DrainClient {
    let millis = |length: std::time::Duration| u64::try_from(length.as_millis());
    DrainClient {
        address: flow.client.to_string(),
        age_ms: millis(flow.age).unwrap_or(u64::MAX),
        idle_ms: millis(flow.idle).unwrap_or(u64::MAX),
    }
}
