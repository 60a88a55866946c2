//! Planning what joins services to virtual servers.

use sluice_balance::{Bind, Change, Order, Weight};
use sluice_command::{Arg, Command, Fault, Key, Noun, Value, Verb, catalogue};

use crate::edit::Edit;
use crate::object::{Binding, Service, ServiceType, Vserver};
use crate::service_group::ServiceGroup;
use crate::settings::text;
use crate::{Config, Plan, chain, refusal, words};

impl Config {
    pub(crate) fn bind(&self, command: &Command) -> Result<Plan, Fault> {
        let vserver = self.find_vserver(words::name(command)?)?;
        let service = match self.find_target(words::service_name(command)?)? {
            Target::Service(service) => service,
            Target::Group(group) => return self.bind_group(vserver, group, command),
        };
        check_types(vserver.service_type, service.service_type)?;
        if self.is_bound(vserver, service.id) {
            return Err(refusal::already_bound(&vserver.name, &service.name));
        }
        if let Some(other) = self.bound_at(vserver, service) {
            return Err(refusal::endpoint_bound(&vserver.name, other));
        }
        let weight = weight(command)?.unwrap_or(Weight::DEFAULT);
        self.check_room(vserver, 1, 1)?;
        let binding = Binding {
            service: service.id,
            weight,
            order: order(command)?,
        };
        let idle = chain::never_spills(&vserver.settings, service);
        Ok(Plan {
            changes: vec![Change::Bind(core(vserver, binding))],
            warnings: idle.into_iter().collect(),
            edits: vec![Edit::Bind(vserver.id, binding)],
        })
    }

    pub(crate) fn unbind(&self, command: &Command) -> Result<Plan, Fault> {
        let vserver = self.find_vserver(words::name(command)?)?;
        let service = match self.find_target(words::service_name(command)?)? {
            Target::Service(service) => service,
            Target::Group(group) => return self.unbind_group(vserver, group),
        };
        if !self.is_bound(vserver, service.id) {
            return Err(refusal::not_bound(&vserver.name, &service.name));
        }
        Ok(Plan {
            changes: vec![Change::Unbind(vserver.id, service.id)],
            warnings: Vec::new(),
            edits: vec![Edit::Unbind(vserver.id, service.id)],
        })
    }

    /// Finds what a name stands for that is bound to a virtual server.
    fn find_target(&self, name: &str) -> Result<Target<'_>, Fault> {
        let service = self.service(name).map(Target::Service);
        let target = service.or_else(|| self.service_group(name).map(Target::Group));
        target.ok_or_else(|| refusal::missing("serviceName", name, "service"))
    }

    /// Plans `set lb vserver v -weight 3 s` and `-order 2 s`, if the command says so.
    pub(crate) fn set_bindings(
        &self,
        plan: &mut Plan,
        vserver: &Vserver,
        command: &Command,
    ) -> Result<(), Fault> {
        let mut changed: Vec<Binding> = Vec::new();
        let mut groups: Vec<ChangedGroup<'_>> = Vec::new();
        for key in OF_BINDING {
            let Some(name) = bound_name(command, key)? else {
                continue;
            };
            let service = match self.find_target(name)? {
                Target::Service(service) => service.id,
                Target::Group(group) => {
                    note_group(&mut groups, group, key, command)?;
                    continue;
                }
            };
            let is_it = |binding: &&Binding| binding.service == service;
            let drafted = changed.iter().find(is_it);
            let found = drafted.or_else(|| vserver.bindings.iter().find(is_it));
            let mut binding = *found.ok_or_else(|| refusal::not_bound(&vserver.name, name))?;
            binding.weight = weight(command)?
                .filter(|_| key == Key::Weight)
                .unwrap_or(binding.weight);
            binding.order = order(command)?
                .filter(|_| key == Key::Order)
                .or(binding.order);
            changed.retain(|binding| binding.service != service);
            changed.push(binding);
        }
        for binding in changed {
            if !vserver.bindings.contains(&binding) {
                plan.changes.push(Change::SetWeight(core(vserver, binding)));
                plan.edits.push(Edit::SetBinding(vserver.id, binding));
            }
        }
        for (group, weight, order) in groups {
            self.set_group_binding(plan, vserver, group, (weight, order))?;
        }
        Ok(())
    }

    /// Refuses `new` services more on a virtual server, `all` on all virtual servers, if there is no room.
    pub(crate) fn check_room(
        &self,
        vserver: &Vserver,
        new: usize,
        all: usize,
    ) -> Result<(), Fault> {
        if vserver.bindings.len() + new > MOST_OF_VSERVER {
            return Err(Fault::new(catalogue::TOO_MANY_SERVICES)
                .with_details(format!("lb vserver {}, {MOST_OF_VSERVER}", vserver.name)));
        }
        if self.objects.binding_count + all > MOST_BINDINGS {
            return Err(refusal::limit("bindings", MOST_BINDINGS));
        }
        Ok(())
    }
}

/// Refuses what cannot reach a service as the client sent it. Whatever is encrypted is passed
/// through, so the types of two encrypted ends need not be the same.
pub(crate) fn check_types(vserver: ServiceType, service: ServiceType) -> Result<(), Fault> {
    let passed_through = vserver.is_encrypted() && service.is_encrypted();
    if vserver == service || passed_through && vserver.protocol() == service.protocol() {
        return Ok(());
    }
    let needs_tls = vserver.is_encrypted() != service.is_encrypted();
    Err(refusal::type_mismatch(
        vserver.name(),
        service.name(),
        needs_tls,
    ))
}

/// What can be bound to a virtual server.
enum Target<'a> {
    Service(&'a Service),
    Group(&'a ServiceGroup),
}

/// A bound group, and what a `set` changes of it.
type ChangedGroup<'a> = (&'a ServiceGroup, Option<Weight>, Option<Order>);

/// Notes what the option `key` changes of a group; both options can be about the same.
fn note_group<'a>(
    groups: &mut Vec<ChangedGroup<'a>>,
    group: &'a ServiceGroup,
    key: Key,
    command: &Command,
) -> Result<(), Fault> {
    let known = groups
        .iter()
        .position(|(known, ..)| known.number == group.number);
    let place = known.unwrap_or(groups.len());
    if known.is_none() {
        groups.push((group, None, None));
    }
    if key == Key::Weight {
        groups[place].1 = weight(command)?;
    } else {
        groups[place].2 = order(command)?;
    }
    Ok(())
}

/// Returns the line that binds a service or a service group.
pub(crate) fn saved(vserver: &str, bound: &str, weight: Weight, order: Option<Order>) -> Command {
    let positionals = [
        (Key::Name, Value::Text(vserver.to_owned())),
        (Key::ServiceName, Value::Text(bound.to_owned())),
    ];
    let weight = (weight != Weight::DEFAULT).then(|| Arg {
        key: Key::Weight,
        values: vec![Value::Integer(weight.value())],
    });
    let order = order.map(|order| Arg {
        key: Key::Order,
        values: vec![Value::Integer(order.value())],
    });
    let options = weight.into_iter().chain(order).collect();
    words::command(Verb::Bind, Noun::LbVserver, positionals, options)
}

/// Whether a `set` changes a bound service.
pub(crate) fn is_changed(command: &Command) -> bool {
    OF_BINDING.iter().any(|key| command.arg(*key).is_some())
}

/// Returns the bound service that an option of `set` is about.
fn bound_name(command: &Command, key: Key) -> Result<Option<&str>, Fault> {
    let Some(arg) = command.arg(key) else {
        return Ok(None);
    };
    let Some(Value::Text(name)) = arg.values.get(1) else {
        return Err(refusal::without_value(command, key));
    };
    Ok(Some(name))
}

pub(crate) fn weight(command: &Command) -> Result<Option<Weight>, Fault> {
    let read = |number| Weight::new(number).ok();
    number(command, Key::Weight, "weight", read)
}

pub(crate) fn order(command: &Command) -> Result<Option<Order>, Fault> {
    let read = |number| Order::new(number).ok();
    number(command, Key::Order, "order", read)
}

fn number<T>(
    command: &Command,
    key: Key,
    argument: &str,
    read: impl FnOnce(u64) -> Option<T>,
) -> Result<Option<T>, Fault> {
    let Some(value) = command.value(key) else {
        return Ok(None);
    };
    let number = value.integer().and_then(read);
    let refused = || refusal::invalid(argument, &text(std::slice::from_ref(value)));
    number.map(Some).ok_or_else(refused)
}

pub(crate) fn core(vserver: &Vserver, binding: Binding) -> Bind {
    Bind {
        vserver: vserver.id,
        service: binding.service,
        weight: binding.weight,
        order: binding.order,
    }
}

/// One choice looks at every service of the virtual server; so many take some tens of microseconds.
const MOST_OF_VSERVER: usize = 8_192;

/// What `set lb vserver` changes of a bound service.
const OF_BINDING: [Key; 2] = [Key::Weight, Key::Order];

/// Bounds the whole table; sixteen for each service.
const MOST_BINDINGS: usize = 1 << 20;
