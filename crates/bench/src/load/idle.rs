//! Connections that have exchanged one byte and then do nothing.

use std::io::{self, Read, Write};
use std::net::SocketAddr;

use super::connect_and_prime;

/// Opens so many connections, says so on `out` by one line with their number, and holds them until
/// `hold` ends.
///
/// # Errors
/// When a connection cannot be made.
pub(crate) fn run(
    address: SocketAddr,
    connections: usize,
    mut out: impl Write,
    mut hold: impl Read,
) -> io::Result<()> {
    let open: io::Result<Vec<_>> = (0..connections)
        .map(|_| connect_and_prime(address))
        .collect();
    let open = open?;
    writeln!(out, "{}", open.len())?;
    out.flush()?;
    io::copy(&mut hold, &mut io::sink())?;
    Ok(())
}
