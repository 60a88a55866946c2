//! Makes a whole request of what a monitor says.

use std::net::SocketAddr;

/// Returns the request to send.
///
/// One with an empty line is whole and goes as it is. Otherwise the version, `Host`, `User-Agent`
/// and `Connection: close` are added unless they are there.
pub(super) fn whole(line: &str, headers: &str, service: SocketAddr) -> Vec<u8> {
    if line.contains("\r\n\r\n") || line.contains("\n\n") {
        return line.as_bytes().to_vec();
    }
    let mut lines = line.lines().chain(headers.lines()).map(str::trim_end);
    let mut first = lines.next().unwrap_or_default();
    if first.is_empty() {
        first = "GET /";
    }
    let version = if first.contains(" HTTP/") {
        ""
    } else {
        " HTTP/1.1"
    };
    let mut request = format!("{first}{version}\r\n");
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let defaults = [
        ("Host", service.to_string()),
        ("User-Agent", "sluice-monitor".to_owned()),
        ("Connection", "close".to_owned()),
    ];
    let is_there = |name: &str| {
        let mut names = lines.iter().filter_map(|line| line.split_once(':'));
        names.any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    for (name, value) in defaults {
        if !is_there(name) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    for line in &lines {
        request.push_str(line);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    request.into_bytes()
}
