//! What is to come out of the experiments: formulas where there are some, and bounds.

use super::{Cell, Fault, Measured, SERVICES, TIME_LIMIT};
use crate::experiments::theory;

/// A bound that a result is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The share of calls lost is within so large a part of what the formula says.
    Near(f64, f64),
    /// At most this share of calls is lost.
    AtMost(f64),
}

impl Target {
    /// Whether a share of lost calls keeps to it.
    pub fn is_met(self, share: f64) -> bool {
        match self {
            Self::Near(theory, part) => (share - theory).abs() <= part * theory,
            Self::AtMost(most) => share <= most,
        }
    }
}

/// Returns the share of calls that the formulas of the methods say is lost, for the time that good and lost
/// calls took in the same run; none where there is no formula, or where something is noticed of failures.
///
/// The formulas know nothing of guards: that of LEASTCONNECTION for a service that fails fast says what
/// becomes of it without.
pub fn formula(measured: &Measured) -> Option<f64> {
    let Measured { cell, tally } = measured;
    if cell.watched {
        return None;
    }
    let s = tally.good_call().as_secs_f64();
    let of_five = 1.0 / SERVICES as f64;
    match (cell.fault, cell.method) {
        (Fault::Refused, _) => Some(0.0),
        (_, "ROUNDROBIN" | "RANDOM") => Some(of_five),
        (Fault::Hang, "LEASTCONNECTION") => {
            let q = s / TIME_LIMIT.as_secs_f64();
            Some(theory::few_clients(cell.clients, SERVICES, q))
        }
        (Fault::FastClose, "LEASTCONNECTION") => {
            let t = tally.lost_call().as_secs_f64();
            (t > 0.0).then(|| theory::minimum_concurrency(of_five, s / t))
        }
        _ => None,
    }
}

/// Returns what a result is held to; none where a method alone is known to lose much.
pub fn target(measured: &Measured) -> Option<Target> {
    let Cell {
        fault,
        method,
        watched,
        ..
    } = measured.cell;
    match (fault, watched) {
        (Fault::Refused, _) => Some(Target::AtMost(0.0)),
        (Fault::Hang, true) if method == "LEASTCONNECTION" => Some(Target::AtMost(0.0005)),
        // The clients that wait there when the ninth failure is known are lost too, and more do.
        (Fault::Hang, true) => Some(Target::AtMost(0.001)),
        (Fault::FastClose, true) => Some(Target::AtMost(0.01)),
        (Fault::Hang, false) if method == "LEASTCONNECTION" => {
            formula(measured).map(|theory| Target::Near(theory, 0.25))
        }
        (Fault::Hang | Fault::FastClose, false) if guards(method) => Some(Target::AtMost(0.01)),
        (Fault::Hang | Fault::FastClose, false) => None,
    }
}

/// Whether a method itself looks at how services answer.
fn guards(method: &str) -> bool {
    ["LEASTBANDWIDTH", "LEASTPACKETS", "LEASTRESPONSETIME"].contains(&method)
}
