//! The configuration: objects, bindings and invariants.
//!
//! [`Config::plan`] turns a command into a [`Plan`] without touching anything; [`Config::commit`] takes
//! the plan into effect and cannot fail; [`Config::render`] writes the running configuration as commands.
//! No I/O, no clock.

use sluice_balance::Change;
use sluice_command::{Command, Fault};

/// What a command will do. Made against one state of a [`Config`] and committed before the next plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What the core and the data plane have to do.
    pub changes: Vec<Change>,
    /// What the operator should know: the text after `Warning: `.
    pub warnings: Vec<String>,
}

/// All configured objects.
#[derive(Clone, Debug, Default)]
pub struct Config {}

impl Config {
    /// Makes an empty configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a configuring command (`add|set|unset|rm|enable|disable|bind|unbind`) against the
    /// configuration and works out what it changes.
    ///
    /// # Errors
    /// The fault of the reference; nothing has changed.
    pub fn plan(&self, _command: &Command) -> Result<Plan, Fault> {
        todo!()
    }

    /// Takes a plan into effect.
    pub fn commit(&mut self, _plan: Plan) {
        todo!()
    }

    /// Returns the running configuration as commands, one per line, in saved order.
    pub fn render(&self) -> Vec<String> {
        todo!()
    }
}
