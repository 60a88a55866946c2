//! The options of an object: what was set, and what holds when nothing was.
//!
//! Only values that differ from the default are kept, so two objects that behave alike compare
//! alike, and one that is saved and read again is the same.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use sluice_command::table::{self, ArgSpec, Effect, Kind, Saved};
use sluice_command::{Arg, Command, Fault, Key, Noun, Value, is_netmask};

use crate::refusal;

/// The options of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    noun: Noun,
    service_type: &'static str,
    values: BTreeMap<Key, Vec<Value>>,
}

impl Settings {
    /// Makes the options of a new object, all at their defaults. A server has the empty type.
    pub(crate) fn new(noun: Noun, service_type: &'static str) -> Self {
        Self {
            noun,
            service_type,
            values: BTreeMap::new(),
        }
    }

    /// Sets an option, and returns a warning when that does nothing.
    pub(crate) fn set(&mut self, arg: &Arg) -> Result<Option<String>, Fault> {
        let row = self
            .row(arg.key)
            .ok_or_else(|| refusal::invalid(&format!("{:?}", arg.key), ""))?;
        if !arg
            .values
            .first()
            .is_some_and(|value| fits(row.kind, value))
        {
            return Err(refusal::invalid(row.spelling, &text(&arg.values)));
        }
        if self.default(row).as_ref() == Some(&arg.values) {
            self.values.remove(&arg.key);
            return Ok(None);
        }
        self.values.insert(arg.key, arg.values.clone());
        Ok(match row.effect {
            Effect::Works => None,
            Effect::NoEffect(why) => Some(format!("-{} has no effect here [{why}]", row.spelling)),
        })
    }

    /// Returns an option to its default.
    pub(crate) fn unset(&mut self, key: Key) {
        self.values.remove(&key);
    }

    /// Tells whether `key` is an option kept here. The state is not: it belongs to the object.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.row(key).is_some()
    }

    /// Returns how an option kept here is called.
    pub(crate) fn spelling(&self, key: Key) -> Option<&'static str> {
        self.row(key).map(|row| row.spelling)
    }

    /// Returns the value in force of an option that is a number.
    pub(crate) fn number(&self, key: Key) -> u64 {
        match self.in_force(key).as_deref() {
            Some([Value::Integer(number), ..]) => *number,
            _ => panic!("{key:?} has a number as its default and is only ever set to one"),
        }
    }

    /// Returns the value in force of an option that is a mask.
    pub(crate) fn netmask(&self, key: Key) -> Ipv4Addr {
        match self.in_force(key).as_deref() {
            Some([Value::Address(IpAddr::V4(mask)), ..]) => *mask,
            _ => panic!("{key:?} has a mask as its default and is only ever set to one"),
        }
    }

    /// Returns how an option is called that a command gives another value than its default.
    pub(crate) fn given(&self, command: &Command, key: Key) -> Option<&'static str> {
        let row = self.row(key)?;
        (command.arg(key).is_some() && self.is_set(key)).then_some(row.spelling)
    }

    /// Returns the value in force of an option that is a number of seconds; 0 is for ever.
    pub(crate) fn idle(&self, key: Key) -> Option<Duration> {
        match self.number(key) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    /// Returns the value in force of an option that is a word or a text.
    pub(crate) fn word(&self, key: Key) -> Option<String> {
        self.in_force(key).map(|values| text(&values))
    }

    /// Returns a word other than the default that was set.
    pub(crate) fn own_word(&self, key: Key) -> Option<&str> {
        self.values.get(&key)?.first()?.text()
    }

    /// Returns a number that was set, of an option without a default.
    pub(crate) fn own_number(&self, key: Key) -> Option<u64> {
        self.values.get(&key)?.first()?.integer()
    }

    /// Returns a value that was set, of whatever kind.
    pub(crate) fn own_value(&self, key: Key) -> Option<&Value> {
        self.values.get(&key)?.first()
    }

    /// Tells whether nothing is set to another value than its default.
    pub(crate) fn is_all_default(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns every option that has a value, by the spelling of the table.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        self.rows().filter_map(|row| self.shown(row.key)).collect()
    }

    /// Returns an option that has a value, by the spelling of the table.
    pub(crate) fn shown(&self, key: Key) -> Option<(String, String)> {
        let spelling = self.row(key)?.spelling;
        let values = self.in_force(key)?;
        Some((spelling.to_owned(), text(&values)))
    }

    /// Returns the options as they are saved, in the order of the table.
    pub(crate) fn saved(&self, enabled: bool) -> Vec<Arg> {
        let mut args = Vec::new();
        for row in table::options(self.noun) {
            let values = match (row.key, row.saved) {
                (Key::State, _) => (!enabled).then(disabled),
                // The unit is only ever read together with its number.
                (Key::NewServiceRequest, _) if self.is_set(Key::NewServiceRequestUnit) => {
                    self.in_force(row.key)
                }
                (_, Saved::Always) => self.in_force(row.key),
                (_, Saved::NotDefault) => self.values.get(&row.key).cloned(),
            };
            if let Some(values) = values {
                let key = row.key;
                args.push(Arg { key, values });
            }
        }
        args
    }

    fn is_set(&self, key: Key) -> bool {
        self.values.contains_key(&key)
    }

    fn in_force(&self, key: Key) -> Option<Vec<Value>> {
        let set = self.values.get(&key).cloned();
        set.or_else(|| self.row(key).and_then(|row| self.default(row)))
    }

    fn default(&self, row: &ArgSpec) -> Option<Vec<Value>> {
        row.default
            .value(self.service_type)
            .map(|value| vec![value])
    }

    fn row(&self, key: Key) -> Option<&'static ArgSpec> {
        self.rows().find(|row| row.key == key)
    }

    fn rows(&self) -> impl Iterator<Item = &'static ArgSpec> + use<> {
        table::options(self.noun)
            .iter()
            .filter(|row| row.key != Key::State)
    }
}

/// Returns values as they are read: separated by a blank.
pub(crate) fn text(values: &[Value]) -> String {
    let words = values.iter().map(|value| match value {
        Value::Text(text) | Value::Choice(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Address(address) => address.to_string(),
        Value::Port(port) => port.to_string(),
        Value::AnyAddress | Value::AnyPort => "*".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Tells whether a value is one of its row. The parser sees to it; a command that came another way
/// must not bring the core a number it cannot hold.
fn fits(kind: Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Integer { min, max, .. }, Value::Integer(number)) => (min..=max).contains(number),
        (Kind::Choice(choices), Value::Choice(word)) => {
            choices.allowed.iter().any(|(allowed, _)| allowed == word)
        }
        (Kind::Address, Value::Address(address)) => !address.is_unspecified(),
        (Kind::Netmask, Value::Address(IpAddr::V4(mask))) => is_netmask(*mask),
        (Kind::Text { max, .. }, Value::Text(text)) => text.len() <= max,
        (Kind::Name(_), Value::Text(_)) | (Kind::Port, Value::Port(_)) => true,
        _ => false,
    }
}

fn disabled() -> Vec<Value> {
    vec![Value::Choice("DISABLED".to_owned())]
}
