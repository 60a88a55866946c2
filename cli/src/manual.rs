//! The command `help`.

use sluice_command::{Command, Fault, Key, Value};

use crate::output::Output;

/// Prints what `help` was asked for.
///
/// # Errors
/// There is no such command.
pub(crate) fn print(command: &Command, output: &mut Output) -> Result<(), Fault> {
    let words = command.arg(Key::Words).map_or(&[][..], |arg| &arg.values);
    let words: Vec<String> = words.iter().filter_map(text).collect();
    output.out(&sluice_command::help(&words.join(" "))?);
    Ok(())
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Choice(text) => Some(text.clone()),
        Value::Integer(_)
        | Value::Address(_)
        | Value::AnyAddress
        | Value::Port(_)
        | Value::AnyPort => None,
    }
}
