//! `show lb group`. The layout is our own: the lines of a virtual server, where there are such.

use sluice_protocol::{GroupMember, GroupRow};

use super::layout::push_parts;
use super::vserver::persistence;

/// Adds a group and, when it was asked for alone, its virtual servers.
pub(crate) fn push(text: &mut String, head: &str, row: &GroupRow) {
    text.push_str(&format!("{head}{}\n", row.name));
    push_parts(text, &persistence(&row.settings));
    let total = format!("No. of Bound Virtual Servers :  {}", row.members_total);
    push_parts(text, &[Some(total)]);
    for (index, member) in row.members.iter().flatten().enumerate() {
        push_member(text, index, member);
    }
}

/// Adds a virtual server in a list of those that belong to something.
pub(crate) fn push_member(text: &mut String, index: usize, member: &GroupMember) {
    text.push_str(&format!(
        "{}) {} ({}: {}) - {} State: {}\n",
        index + 1,
        member.name,
        member.address,
        member.port,
        member.service_type,
        member.state
    ));
}
