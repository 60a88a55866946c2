//! The demonstration: a daemon, six services, clients, and a live table of how least bandwidth spreads
//! them. Real sockets on loopback, about 20 seconds, nothing left behind.

mod rig;
mod table;
mod traffic;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rig::Rig;
use sluice_tests::binaries;
use traffic::Traffic;

fn main() -> ExitCode {
    match demonstrate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate() -> Result<(), String> {
    println!("Sluice: least bandwidth over real sockets, on loopback, for about 20 seconds.\n");
    let rig = Rig::start()?;
    rig.show_commands()?;

    println!(
        "\nA client's bytes through the echo service, {} MiB each way:",
        traffic::ECHO_MIB
    );
    let echo = traffic::echo(rig.tcp_echo)?;
    println!(
        "  sent     sha256 {}\n  received sha256 {}",
        echo.sent, echo.received
    );
    if echo.sent != echo.received {
        return Err("the bytes were changed on their way".to_owned());
    }

    println!("\n{}", table::LEGEND);
    let traffic = Traffic::start(rig.tcp, rig.udp);
    let mut client = rig.client()?;
    let mut table = table::Table::new(std::io::stdout().is_terminal());
    let started = Instant::now();
    let mut bulk = None;
    for second in 1..=SECONDS {
        thread::sleep((started + Duration::from_secs(second)).duration_since(Instant::now()));
        if second == BULK_FROM {
            table::check_spread(&mut client)?;
            bulk = Some(traffic::Bulk::start(rig.tcp));
        }
        let note = match &bulk {
            None => "short requests only",
            Some(_) => {
                "one client is downloading without end: its service's N rises, others take over"
            }
        };
        table.draw(&mut client, second, note)?;
    }
    drop(bulk);
    let totals = traffic.stop();
    table::verdict(&mut client, totals)?;
    rig.stop()?;
    say_next();
    Ok(())
}

/// Says how to go on by hand, with the binaries that were shown.
fn say_next() {
    let folder = binaries::binary("").display().to_string();
    println!(
        "
Everything is stopped. To go on by hand, in two terminals:

  {folder}sluiced --config /tmp/my.conf --socket /tmp/my.sock
  {folder}sluice --socket /tmp/my.sock

and type, for a service of yours on port 8001:

  add service s1 127.0.0.1 TCP 8001
  add lb vserver v1 TCP 127.0.0.1 9000 -lbMethod LEASTBANDWIDTH
  bind lb vserver v1 s1
  show lb vserver v1
  save ns config

README.md has the five-minute tour; `help` and the Tab key show the rest."
    );
}

/// How long the table lives.
const SECONDS: u64 = 20;

/// When the endless download starts: late enough that the table has settled before it.
const BULK_FROM: u64 = 11;
