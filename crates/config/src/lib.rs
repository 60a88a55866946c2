//! The configuration: objects, bindings and invariants.
//!
//! [`Config::plan`] turns a command into a [`Plan`] without touching anything; [`Config::commit`]
//! takes the plan into effect and cannot fail; [`Config::render`] writes the running configuration
//! as commands. No I/O, no clock.
//!
//! Invariants: names are unique within servers, services and virtual servers, compared exactly; a
//! service's server exists and a service answers at the address of its server; no two services, no two
//! members of one service group and no two that are bound to one virtual server answer at the same
//! address, port and protocol, and no two virtual servers listen there; a binding joins a service or a
//! service group and a virtual server of one type, once; a virtual server is in one group at
//! most; numbers of objects are never
//! used again.

pub mod fuzz;

mod access;
mod binding;
mod chain;
mod choosing;
mod defaults;
mod edit;
mod group;
mod group_binding;
mod load;
mod member;
mod object;
mod parameter;
mod plan;
mod profile;
mod refusal;
mod registry;
mod rename;
mod server;
mod service;
mod service_group;
mod settings;
mod sockets;
mod vserver;
mod way;
mod words;

#[cfg(test)]
mod tests;

pub use chain::{SplitBackup, split_backup};
pub use group::Group;
pub use load::{
    LateLine, LineFault, LineReport, Loader, Reading, Report, Skips, Verdict, check_file,
    load_file, plan_line, several,
};
pub use object::{Binding, Listen, Server, Service, ServiceType, Vserver};
pub use plan::{Config, Plan};
pub use profile::Profile;
pub use service_group::{GroupBinding, GroupNumber, ServiceGroup};
pub use way::{Difference, Way};
