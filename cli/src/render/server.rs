//! `show server`.

use sluice_protocol::ServerRow;

use super::{Form, drain};

/// Adds a server and, in the detailed form, its services.
///
/// The reference's samples pad the name by 5 blanks in a list and by 13 for one server; so do we.
/// The comment and the service's state line are our own.
pub(crate) fn push(text: &mut String, head: &str, form: Form, row: &ServerRow) {
    let pad = match form {
        Form::List => 5,
        Form::Single => 13,
    };
    text.push_str(&format!(
        "{head}Name:{}{}      State:{}\n\tIPAddress:   {}\n",
        " ".repeat(pad),
        row.name,
        row.state,
        row.address
    ));
    if let Some(comment) = &row.comment {
        text.push_str(&format!("\tComment: \"{comment}\"\n"));
    }
    if !row.services.is_empty() {
        text.push('\n');
    }
    for (index, service) in row.services.iter().enumerate() {
        text.push_str(&format!(
            "\t{})\t{} ({}:{}) - {}\n\t\tState: {}\n",
            index + 1,
            service.name,
            service.address,
            service.port,
            service.service_type,
            drain::state(&service.state, service.drain.as_ref())
        ));
        if let Some(own) = &service.drain {
            let lines = [Some(drain::forecast(own)), drain::clients(own)];
            for line in lines.iter().flatten() {
                text.push_str(&format!("\t\t{line}\n"));
            }
        }
    }
}
