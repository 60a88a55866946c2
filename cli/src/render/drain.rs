//! How a service goes out of service.
//!
//! The state is that of the reference; what it shows of a delay alone is not known, and the forecast is
//! our own.

use sluice_protocol::{Drain, DrainClient};

/// Returns a state, with how it comes to its end if the service is on its way out.
pub(crate) fn state(state: &str, drain: Option<&Drain>) -> String {
    let Some(drain) = drain else {
        return state.to_owned();
    };
    let graceful = format!("Graceful (number of active clients: {})", drain.clients);
    let left = drain
        .left_ms
        .map(|left_ms| format!("Out Of Service in {} seconds", left_ms.div_ceil(1000)));
    match (drain.graceful, left) {
        (true, None) => format!("{state}   {graceful}"),
        (true, Some(left)) => format!("{state} ({graceful}, {left})"),
        (false, Some(left)) => format!("{state} ({left})"),
        (false, None) => state.to_owned(),
    }
}

/// Returns when the last client will be gone.
pub(crate) fn forecast(drain: &Drain) -> String {
    let Drain {
        clients,
        last_client_ms,
        ..
    } = drain;
    match (clients, last_client_ms) {
        (0, _) => "Clients: 0 left".to_owned(),
        (_, None) => format!("Clients: {clients} left, never gone at the present rate"),
        (_, Some(last_ms)) => format!(
            "Clients: {clients} left, gone in {} seconds at the present rate",
            last_ms.div_ceil(1000)
        ),
    }
}

/// Returns who of the clients stands out.
pub(crate) fn clients(drain: &Drain) -> Option<String> {
    let (oldest, idlest) = (drain.oldest.as_ref()?, drain.idlest.as_ref()?);
    let seconds = |part: fn(&DrainClient) -> u64, client: &DrainClient| part(client) / 1000;
    Some(format!(
        "Oldest client: {}, {} seconds; idlest client: {}, {} seconds without traffic",
        oldest.address,
        seconds(|client| client.age_ms, oldest),
        idlest.address,
        seconds(|client| client.idle_ms, idlest),
    ))
}
