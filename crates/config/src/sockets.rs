//! What the sockets of services and clients are like, from the profiles they name.

use std::net::IpAddr;
use std::time::Duration;

use sluice_balance::{Change, KeepAlive, Protocol, Sockets, TcpOptions};
use sluice_command::{Key, Value};

use crate::edit::Edit;
use crate::object::{Service, Vserver};
use crate::profile::{DEFAULT_TCP, Profile, ProfileKind};
use crate::settings::Settings;
use crate::{Config, Plan};

impl Config {
    /// Returns what the sockets to a service are like.
    pub fn sockets_of(&self, service: &Service) -> Sockets {
        let view = View::of(self);
        view.sockets(&service.settings, service.service_type.protocol())
    }

    /// Returns what the sockets of the clients of a virtual server are like.
    pub fn sockets_of_vserver(&self, vserver: &Vserver) -> Sockets {
        let view = View::of(self);
        view.sockets(&vserver.settings, vserver.service_type.protocol())
    }

    /// Adds to a plan what changes for sockets by the rest of it.
    pub(crate) fn plan_sockets(&self, plan: &mut Plan) {
        let view = View {
            config: self,
            edits: &plan.edits,
        };
        let mut changes = Vec::new();
        for edit in &plan.edits {
            if let Edit::Service(after) = edit {
                let before = self.service_by_id(after.id);
                let before = before.map(|before| self.sockets_of(before));
                view.note_service(&mut changes, before.unwrap_or_default(), after);
            } else if let Edit::Vserver(after) = edit {
                let before = self.vserver_by_id(after.id);
                let before = before.map(|before| self.sockets_of_vserver(before));
                view.note_vserver(&mut changes, before.unwrap_or_default(), after);
            } else if let Edit::Profile(_) | Edit::RemoveProfile(..) = edit {
                for service in self.services() {
                    view.note_service(&mut changes, self.sockets_of(service), service);
                }
                for vserver in self.vservers() {
                    view.note_vserver(&mut changes, self.sockets_of_vserver(vserver), vserver);
                }
            }
        }
        plan.changes.extend(changes);
    }
}

/// The profiles as they are after a plan.
struct View<'a> {
    config: &'a Config,
    edits: &'a [Edit],
}

impl<'a> View<'a> {
    fn of(config: &'a Config) -> Self {
        Self { config, edits: &[] }
    }

    fn note_service(&self, changes: &mut Vec<Change>, before: Sockets, after: &Service) {
        let protocol = after.service_type.protocol();
        let sockets = self.sockets(&after.settings, protocol);
        if before != sockets {
            changes.push(Change::SetServiceSockets(after.id, sockets));
        }
    }

    fn note_vserver(&self, changes: &mut Vec<Change>, before: Sockets, after: &Vserver) {
        let protocol = after.service_type.protocol();
        let sockets = self.sockets(&after.settings, protocol);
        if before != sockets {
            changes.push(Change::SetVserverSockets(after.id, sockets));
        }
    }

    fn sockets(&self, settings: &Settings, protocol: Protocol) -> Sockets {
        let tcp = settings.own_word(Key::TcpProfileName);
        let tcp = self.profile(ProfileKind::Tcp, tcp.unwrap_or(DEFAULT_TCP));
        let net = settings.own_word(Key::NetProfile);
        let net = net.and_then(|name| self.profile(ProfileKind::Net, name));
        Sockets {
            tcp: match (tcp, protocol) {
                (Some(profile), Protocol::Tcp) => tcp_options(&profile.settings),
                (_, Protocol::Udp) | (None, Protocol::Tcp) => TcpOptions::default(),
            },
            source: net.and_then(|profile| source(&profile.settings)),
        }
    }

    fn profile(&self, kind: ProfileKind, name: &str) -> Option<&'a Profile> {
        let edited = self.edits.iter().rev().find_map(|edit| {
            if let Edit::Profile(profile) = edit {
                return (profile.kind == kind && profile.name == name).then_some(Some(profile));
            }
            let Edit::RemoveProfile(of, gone) = edit else {
                return None;
            };
            (*of == kind && gone == name).then_some(None)
        });
        edited.unwrap_or_else(|| self.config.profile(kind, name))
    }
}

fn tcp_options(settings: &Settings) -> TcpOptions {
    let own = |key| settings.own_number(key);
    let number = |key| own(key).and_then(|number| u32::try_from(number).ok());
    let seconds = |key| own(key).map(Duration::from_secs);
    let is_on = |key| settings.own_word(key) == Some("ENABLED");
    let keep_alive = KeepAlive {
        idle: seconds(Key::KaConnIdleTime),
        interval: seconds(Key::KaProbeInterval),
        probes: number(Key::KaMaxProbes),
    };
    TcpOptions {
        nagle: is_on(Key::Nagle),
        keep_alive: is_on(Key::Ka).then_some(keep_alive),
        max_segment: number(Key::Mss),
        receive_buffer: number(Key::BufferSize),
        send_buffer: number(Key::SendBuffSize),
    }
}

fn source(settings: &Settings) -> Option<IpAddr> {
    match settings.own_value(Key::SrcIp)? {
        Value::Address(address) => Some(*address),
        Value::Text(_)
        | Value::Integer(_)
        | Value::AnyAddress
        | Value::Port(_)
        | Value::AnyPort
        | Value::Choice(_) => None,
    }
}
