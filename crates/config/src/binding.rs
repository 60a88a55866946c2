//! Planning what joins services to virtual servers.

use sluice_balance::{Bind, Change, Order, Weight};
use sluice_command::{Command, Fault, Key, Value, catalogue};

use crate::edit::Edit;
use crate::object::{Binding, ServiceType, Vserver};
use crate::settings::text;
use crate::{Config, Plan, chain, refusal, words};

impl Config {
    pub(crate) fn bind(&self, command: &Command) -> Result<Plan, Fault> {
        let vserver = self.find_vserver(words::name(command)?)?;
        let service = self.find_service("serviceName", words::service_name(command)?)?;
        check_types(vserver.service_type, service.service_type)?;
        if self.is_bound(vserver, service.id) {
            return Err(refusal::already_bound(&vserver.name, &service.name));
        }
        let weight = weight(command)?.unwrap_or(Weight::DEFAULT);
        self.check_room(vserver)?;
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
        let service = self.find_service("serviceName", words::service_name(command)?)?;
        if !self.is_bound(vserver, service.id) {
            return Err(refusal::not_bound(&vserver.name, &service.name));
        }
        Ok(Plan {
            changes: vec![Change::Unbind(vserver.id, service.id)],
            warnings: Vec::new(),
            edits: vec![Edit::Unbind(vserver.id, service.id)],
        })
    }

    /// Plans `set lb vserver v -weight 3 s` and `-order 2 s`, if the command says so.
    pub(crate) fn set_bindings(
        &self,
        plan: &mut Plan,
        vserver: &Vserver,
        command: &Command,
    ) -> Result<(), Fault> {
        let mut changed: Vec<Binding> = Vec::new();
        for key in OF_BINDING {
            let Some(name) = bound_name(command, key)? else {
                continue;
            };
            let service = self.find_service("serviceName", name)?.id;
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
        Ok(())
    }

    fn check_room(&self, vserver: &Vserver) -> Result<(), Fault> {
        if vserver.bindings.len() >= MOST_OF_VSERVER {
            return Err(Fault::new(catalogue::TOO_MANY_SERVICES)
                .with_details(format!("lb vserver {}, {MOST_OF_VSERVER}", vserver.name)));
        }
        if self.objects.binding_count >= MOST_BINDINGS {
            return Err(refusal::limit("bindings", MOST_BINDINGS));
        }
        Ok(())
    }
}

/// Refuses what cannot reach a service as the client sent it. Whatever is encrypted is passed
/// through, so the types of two encrypted ends need not be the same.
fn check_types(vserver: ServiceType, service: ServiceType) -> Result<(), Fault> {
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

fn weight(command: &Command) -> Result<Option<Weight>, Fault> {
    let read = |number| Weight::new(number).ok();
    number(command, Key::Weight, "weight", read)
}

fn order(command: &Command) -> Result<Option<Order>, Fault> {
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

fn core(vserver: &Vserver, binding: Binding) -> Bind {
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
