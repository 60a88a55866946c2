//! The objects: what each is, what the core needs to know of it, and how it is saved.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use sluice_balance::{
    Order, Protocol, ServiceId, ServiceSettings, VserverId, VserverSettings, Weight,
};
use sluice_command::{Carrier, Command, Key, Noun, TypeSpec, Value, Verb};

use crate::group::Group;
use crate::parameter::Parameter;
use crate::profile::Profile;
use crate::service_group::{GroupBinding, Membership};
use crate::settings::Settings;
use crate::words::{command, server_value};
use crate::{chain, choosing};

/// A host that runs services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) address: IpAddr,
    pub(crate) enabled: bool,
    pub(crate) settings: Settings,
}

/// A port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub(crate) id: ServiceId,
    pub(crate) name: String,
    pub(crate) server: String,
    pub(crate) service_type: ServiceType,
    /// Follows the address of the server.
    pub(crate) address: SocketAddr,
    /// Its own state; the server's comes on top.
    pub(crate) enabled: bool,
    /// Its options; for a member of a service group those of the group.
    pub(crate) settings: Settings,
    /// What makes it a member of a service group.
    pub(crate) member: Option<Membership>,
}

/// A place where clients connect, and the services they are spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vserver {
    pub(crate) id: VserverId,
    pub(crate) name: String,
    pub(crate) service_type: ServiceType,
    pub(crate) listen: Listen,
    pub(crate) enabled: bool,
    pub(crate) settings: Settings,
    /// All services, members of service groups among them, as the core knows them.
    pub(crate) bindings: Vec<Binding>,
    pub(crate) groups: Vec<GroupBinding>,
}

/// A service of a virtual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The service.
    pub service: ServiceId,
    /// Its share.
    pub weight: Weight,
    /// Who takes traffic before it.
    pub order: Option<Order>,
}

/// What a service or virtual server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceType(&'static TypeSpec);

/// Where a virtual server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere; saved as `0.0.0.0 0`.
    Nowhere,
    /// On every IPv4 address of this host; saved as `*`.
    Any(u16),
    /// On one address; `::` is every IPv6 address of this host.
    At(SocketAddr),
}

impl Server {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns whether its services may take part.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns its comment.
    pub fn comment(&self) -> Option<String> {
        self.settings.word(Key::Comment)
    }

    /// Returns the options in force, by the spelling of the table.
    pub fn options(&self) -> BTreeMap<String, String> {
        self.settings.all()
    }

    pub(crate) fn saved(&self) -> Command {
        let positionals = [
            (Key::Name, Value::Text(self.name.clone())),
            (Key::Address, Value::Address(self.address)),
        ];
        let options = self.settings.saved(self.enabled);
        command(Verb::Add, Noun::Server, positionals, options)
    }
}

impl Service {
    /// Returns its number, as the core knows it.
    pub fn id(&self) -> ServiceId {
        self.id
    }

    /// Returns its name; that of a member of a service group is `GROUP?SERVER?PORT`, which nobody can
    /// type as a name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of its server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns what it speaks.
    pub fn service_type(&self) -> ServiceType {
        self.service_type
    }

    /// Returns where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns whether it is enabled itself; its server may still be disabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the options in force, by the spelling of the table.
    pub fn options(&self) -> BTreeMap<String, String> {
        self.settings.all()
    }

    /// Returns whether it, its service group and its server are enabled.
    pub(crate) fn takes_part(&self, server: &Server) -> bool {
        let group = self.member.as_ref().is_none_or(Membership::is_enabled);
        self.enabled && group && server.enabled
    }

    pub(crate) fn endpoint(&self) -> (SocketAddr, Protocol) {
        (self.address, self.service_type.protocol())
    }

    /// Returns what the core needs to know.
    pub(crate) fn core(&self, server: &Server) -> ServiceSettings {
        let max_client = u32::try_from(self.settings.number(Key::MaxClient));
        let max_bandwidth = u32::try_from(self.settings.number(Key::MaxBandwidth));
        ServiceSettings {
            protocol: self.service_type.protocol(),
            address: self.address,
            enabled: self.takes_part(server),
            max_client: max_client.ok().filter(|most| *most > 0),
            max_bandwidth: max_bandwidth.ok().filter(|most| *most > 0),
            hash_id: self.own_settings().own_number(Key::HashId),
            // No monitor can be bound yet.
            health_monitor: true,
            monitor_threshold: 0,
            idle: self.settings.idle(Key::SvrTimeout),
            flush_on_down: flush_on_down(&self.settings),
            is_one_way: self.service_type.is_one_way(),
        }
    }

    pub(crate) fn saved(&self) -> Command {
        let positionals = [
            (Key::Name, Value::Text(self.name.clone())),
            server_value(&self.server),
            (Key::ServiceType, self.service_type.value()),
            (Key::Port, Value::Port(self.address.port())),
        ];
        let options = self.settings.saved(self.enabled);
        command(Verb::Add, Noun::Service, positionals, options)
    }
}

impl Vserver {
    /// Returns its number, as the core knows it.
    pub fn id(&self) -> VserverId {
        self.id
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what its clients and services speak.
    pub fn service_type(&self) -> ServiceType {
        self.service_type
    }

    /// Returns where it listens.
    pub fn listen(&self) -> Listen {
        self.listen
    }

    /// Returns whether it takes clients.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns its services, those of service groups among them, in the order they were bound.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Returns what its spillover compares with, as typed.
    pub fn spillover_threshold(&self) -> Option<u64> {
        self.settings.own_number(Key::SoThreshold)
    }

    pub(crate) fn listener(&self) -> Option<(SocketAddr, Protocol)> {
        let address = self.listen.socket()?;
        Some((address, self.service_type.protocol()))
    }

    /// Returns a copy to change; bindings are changed one by one, never copied.
    pub(crate) fn draft(&self) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            service_type: self.service_type,
            listen: self.listen,
            enabled: self.enabled,
            settings: self.settings.clone(),
            bindings: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Returns what the core needs to know, with this profile, group and backup or with none.
    pub(crate) fn core(
        &self,
        parameter: &Parameter,
        profile: Option<&Profile>,
        group: Option<&Group>,
        backup: Option<VserverId>,
    ) -> VserverSettings {
        VserverSettings {
            protocol: self.service_type.protocol(),
            listen: self.listen.socket(),
            enabled: self.enabled,
            method: choosing::method(&self.settings),
            hash: parameter.hash(profile, choosing::hash_mask(&self.settings)),
            idle: self.settings.idle(Key::CltTimeout),
            backup: chain::backup(&self.settings, backup),
            health_threshold: chain::health_threshold(&self.settings),
            orders: chain::orders(&self.settings),
            flush_on_down: flush_on_down(&self.settings),
            slow_start: choosing::slow_start(&self.settings),
            persistence: choosing::persistence(&self.settings, group),
        }
    }

    pub(crate) fn saved(&self) -> Command {
        let (address, port) = self.listen.values();
        let positionals = [
            (Key::Name, Value::Text(self.name.clone())),
            (Key::ServiceType, self.service_type.value()),
            (Key::Address, address),
            (Key::Port, port),
        ];
        let options = self.settings.saved(self.enabled);
        command(Verb::Add, Noun::LbVserver, positionals, options)
    }
}

impl ServiceType {
    /// Returns its word.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns what carries it.
    pub fn protocol(self) -> Protocol {
        match self.0.carrier {
            Carrier::Connections => Protocol::Tcp,
            Carrier::Datagrams => Protocol::Udp,
        }
    }

    /// Returns whether TCP carries it.
    pub(crate) fn is_tcp(self) -> bool {
        self.protocol() == Protocol::Tcp
    }

    /// Returns whether what it carries is encrypted from end to end.
    pub(crate) fn is_encrypted(self) -> bool {
        self.0.is_encrypted()
    }

    /// Returns whether clients only ever send.
    pub(crate) fn is_one_way(self) -> bool {
        self.0.is_one_way()
    }

    /// Returns what an operator who uses it is to know, if anything.
    pub(crate) fn warning(self) -> Option<String> {
        self.0.warning()
    }

    /// Returns the type of this name, if it is one of ours.
    pub(crate) fn named(name: &str) -> Option<Self> {
        TypeSpec::named(name).map(Self)
    }

    pub(crate) fn value(self) -> Value {
        Value::Choice(self.name().to_owned())
    }
}

impl Listen {
    /// Returns what to bind a socket to.
    pub fn socket(self) -> Option<SocketAddr> {
        match self {
            Self::Nowhere => None,
            Self::Any(port) => Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))),
            Self::At(address) => Some(address),
        }
    }

    /// Returns the port; 0 is none.
    pub fn port(self) -> u16 {
        self.socket().map_or(0, |address| address.port())
    }

    /// Returns the address as it is written: `0.0.0.0` is none, `*` any.
    pub fn address(self) -> String {
        match self {
            Self::Nowhere => Ipv4Addr::UNSPECIFIED.to_string(),
            Self::Any(_) => "*".to_owned(),
            Self::At(address) => address.ip().to_string(),
        }
    }

    fn values(self) -> (Value, Value) {
        let address = match self {
            Self::Nowhere => Value::Address(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            Self::Any(_) => Value::AnyAddress,
            Self::At(address) => Value::Address(address.ip()),
        };
        (address, Value::Port(self.port()))
    }
}

fn flush_on_down(settings: &Settings) -> bool {
    settings.word(Key::DownStateFlush).as_deref() == Some("ENABLED")
}
