//! Planning what joins services to virtual servers.

use sluice_balance::{Bind, Change, Weight};
use sluice_command::{Command, Fault, Key, Value, catalogue};

use crate::edit::Edit;
use crate::object::{Binding, ServiceType, Vserver};
use crate::settings::text;
use crate::{Config, Plan, refusal, words};

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
        };
        Ok(Plan {
            changes: vec![Change::Bind(core(vserver, binding))],
            warnings: Vec::new(),
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

    /// Plans `set lb vserver v -weight 3 s`, if the command says so.
    pub(crate) fn set_weight(
        &self,
        plan: &mut Plan,
        vserver: &Vserver,
        command: &Command,
    ) -> Result<(), Fault> {
        let Some(weight) = weight(command)? else {
            return Ok(());
        };
        let name = command.arg(Key::Weight).and_then(|arg| arg.values.get(1));
        let Some(Value::Text(name)) = name else {
            return Err(Fault::new(catalogue::VALUE_MISSING).with_details("weight"));
        };
        let service = self.find_service("serviceName", name)?.id;
        let mut bindings = vserver.bindings().iter();
        match bindings.find(|binding| binding.service == service) {
            None => Err(refusal::not_bound(&vserver.name, name)),
            Some(binding) if binding.weight == weight => Ok(()),
            Some(_) => {
                let binding = Binding { service, weight };
                plan.changes.push(Change::SetWeight(core(vserver, binding)));
                plan.edits.push(Edit::SetWeight(vserver.id, binding));
                Ok(())
            }
        }
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

fn weight(command: &Command) -> Result<Option<Weight>, Fault> {
    let Some(value) = command.value(Key::Weight) else {
        return Ok(None);
    };
    let weight = match value {
        Value::Integer(weight) => Weight::new(*weight).ok(),
        Value::Text(_)
        | Value::Address(_)
        | Value::AnyAddress
        | Value::Port(_)
        | Value::AnyPort
        | Value::Choice(_) => None,
    };
    let refused = || refusal::invalid("weight", &text(std::slice::from_ref(value)));
    weight.map(Some).ok_or_else(refused)
}

fn core(vserver: &Vserver, binding: Binding) -> Bind {
    Bind {
        vserver: vserver.id,
        service: binding.service,
        weight: binding.weight,
        order: None,
    }
}

/// One choice looks at every service of the virtual server; so many take some tens of microseconds.
const MOST_OF_VSERVER: usize = 8_192;

/// Bounds the whole table; sixteen for each service.
const MOST_BINDINGS: usize = 1 << 20;
