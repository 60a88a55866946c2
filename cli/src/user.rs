//! Who is typing, and on which host.

use std::fs;

/// Returns the name of the user the program runs as, or the number where there is no name.
pub(crate) fn name() -> String {
    let number = rustix::process::getuid().as_raw();
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&known, number)
        .map(str::to_owned)
        .or_else(|| std::env::var("USER").ok())
        .unwrap_or_else(|| number.to_string())
}

/// Returns the name of the host, without its domain.
pub(crate) fn host() -> String {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn name_in(passwd: &str, number: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let is_theirs = fields.nth(1)?.parse() == Ok(number);
        is_theirs.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbad\nann:x:1001:100::/home/ann:/bin/sh\n";
        assert_eq!(name_in(passwd, 1001), Some("ann"));
        assert_eq!(name_in(passwd, 0), Some("root"));
        assert_eq!(name_in(passwd, 100), None);
    }
}
