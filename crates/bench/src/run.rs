//! One run: the peers are measured in turn, forwards in even rounds and backwards in odd ones, so
//! that what changes on the machine meanwhile meets all of them alike.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::RunArgs;
use crate::fault::Fault;
use crate::lab::{Lab, Place, SERVICES};
use crate::load::sample::Sample;
use crate::load::server::ECHO;
use crate::meter;
use crate::peer::{Peer, Running};
use crate::report::Results;
use crate::rows::{Figure, IDLE, ROWS, Row};

/// Measures what `args` ask for.
///
/// # Errors
/// What could not be set up. A peer that fails in one row is noted, and the run goes on.
pub(crate) fn run(args: &RunArgs) -> Result<Results, Fault> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Fault::new("namespaces need root: run this as root"));
    }
    let bench = Bench::set_up(args)?;
    let mut results = Results::default();
    for note in bench.lab.notes() {
        results.note(note.clone());
    }
    if args.takes_row(IDLE) {
        for peer in args.chosen_peers().filter(|peer| peer.has_process()) {
            bench.measure_idle(peer, &mut results)?;
        }
    }
    let rows: Vec<&Row> = ROWS.iter().filter(|row| args.takes_row(row.name)).collect();
    let mut peers = BTreeMap::new();
    if !rows.is_empty() {
        for peer in args.chosen_peers() {
            peers.insert(peer, bench.start(peer)?);
        }
    }
    for round in 0..args.rounds() {
        for row in &rows {
            let mut order: Vec<Peer> = args
                .chosen_peers()
                .filter(|peer| row.takes(*peer))
                .collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for peer in order {
                let running = peers.get_mut(&peer).expect("all were started");
                bench.measure(running, row, &mut results)?;
            }
        }
    }
    Ok(results)
}

impl RunArgs {
    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 })
    }

    fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 1.0 } else { 2.0 })
    }

    fn takes_row(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|word| name.contains(word.as_str()))
    }

    fn chosen_peers(&self) -> impl Iterator<Item = Peer> {
        Peer::ALL.into_iter().filter(|peer| {
            if self.peers.is_empty() {
                *peer != Peer::Envoy || self.envoy
            } else {
                self.peers.iter().any(|word| word == peer.name())
            }
        })
    }

    /// Checks the names that were given.
    ///
    /// # Errors
    /// The name that is none, and those that are.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let peers = Peer::ALL.map(Peer::name);
        if let Some(word) = self
            .peers
            .iter()
            .find(|word| !peers.contains(&word.as_str()))
        {
            let allowed = peers.join(", ");
            return Err(Fault::new(format!("no peer {word}; there are {allowed}")));
        }
        let rows: Vec<_> = ROWS.iter().map(|row| row.name).chain([IDLE]).collect();
        let is_known = |word: &&String| !rows.iter().any(|name| name.contains(word.as_str()));
        if let Some(word) = self.rows.iter().find(is_known) {
            let allowed = rows.join(", ");
            return Err(Fault::new(format!("no row {word}; there are {allowed}")));
        }
        match self.seconds {
            Some(seconds) if !(0.1..=60.0).contains(&seconds) => {
                Err(Fault::new(format!("--seconds {seconds}: from 0.1 to 60")))
            }
            _ => Ok(()),
        }
    }
}

/// The laboratory at work. Fields are dropped in this order: the services before their namespace.
struct Bench<'a> {
    _services: Services,
    lab: Lab,
    args: &'a RunArgs,
    program: String,
}

/// The process of the services, ended with the value.
struct Services(Child);

impl Drop for Services {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl<'a> Bench<'a> {
    fn set_up(args: &'a RunArgs) -> Result<Self, Fault> {
        let program = std::env::current_exe()?.display().to_string();
        let lab = Lab::build()?;
        let addresses = SERVICES.map(|address| address.to_string()).join(",");
        let mut serve = lab.command(Place::Services, &program);
        let services = Services(serve.args(["serve", &addresses]).spawn()?);
        let bench = Self {
            _services: services,
            lab,
            args,
            program,
        };
        bench.await_answer(Peer::Direct, &mut || None)?;
        Ok(bench)
    }

    /// Starts a peer and waits until it answers.
    fn start(&self, peer: Peer) -> Result<Running, Fault> {
        let mut running = Running::start(peer, &self.lab, self.args)?;
        running.enter(&self.lab)?;
        let answered = self.await_answer(peer, &mut || running.ended());
        running.leave(&self.lab)?;
        answered.map(|()| running)
    }

    fn await_answer(
        &self,
        peer: Peer,
        ended: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), Fault> {
        let patience = Instant::now() + Duration::from_secs(15);
        let row = ROWS
            .iter()
            .find(|row| row.port == ECHO)
            .expect("a row asks the echo");
        loop {
            let sample = self.load(peer, row, 0.05);
            if sample.is_ok_and(|sample| sample.operations > 0 && sample.errors == 0) {
                return Ok(());
            }
            if let Some(text) = ended() {
                return Err(Fault::new(text));
            }
            if Instant::now() > patience {
                return Err(Fault::new(format!("{} does not answer", peer.name())));
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Runs a client against a peer.
    fn load(&self, peer: Peer, row: &Row, seconds: f64) -> Result<Sample, Fault> {
        let address = peer.offers(row.port).to_string();
        let seconds = format!("--seconds={seconds}");
        let mut command = self.lab.command(Place::Client, &self.program);
        command
            .arg("load")
            .args(row.words)
            .args([&address, &seconds]);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(Fault::new(said.trim()));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| Fault::new(format!("the load generator's answer: {error}")))
    }

    fn measure(
        &self,
        running: &mut Running,
        row: &Row,
        results: &mut Results,
    ) -> Result<(), Fault> {
        let peer = running.peer;
        running.enter(&self.lab)?;
        let processes = running.processes();
        let before = meter::processor_time(&processes);
        let sample = self.load(peer, row, self.args.seconds());
        let used = meter::processor_time(&processes).saturating_sub(before);
        running.leave(&self.lab)?;
        if let Some(text) = running.ended() {
            return Err(Fault::new(text));
        }
        match sample {
            Ok(sample) => {
                eprintln!("  {} {}: {}", row.name, peer.name(), brief(&sample));
                for figure in row.figures {
                    let value = figure.of(&sample, used.as_secs_f64());
                    if let Some(value) = value.filter(|_| Row::has(*figure, peer)) {
                        results.add(row.name, *figure, peer, value);
                    }
                }
                if sample.errors > 0 {
                    let (row, name) = (row.name, peer.name());
                    results.note(format!("{row} {name}: {} errors", sample.errors));
                }
            }
            Err(fault) => results.note(format!("{} {}: {fault}", row.name, peer.name())),
        }
        Ok(())
    }

    /// Measures what idle connections cost, with a process that has served nobody before.
    fn measure_idle(&self, peer: Peer, results: &mut Results) -> Result<(), Fault> {
        let running = self.start(peer)?;
        let processes = running.processes();
        let empty = meter::memory(&processes);
        let mut held = Vec::new();
        let mut at = Vec::new();
        for more in [1_000, 3_000, 5_000] {
            match self.hold(peer, more) {
                Ok(client) => held.push(client),
                Err(fault) => {
                    results.note(format!("{IDLE} {}: {fault}", peer.name()));
                    return Ok(());
                }
            }
            thread::sleep(Duration::from_millis(500));
            at.push(meter::memory(&processes));
        }
        let before = meter::processor_time(&processes);
        let begun = Instant::now();
        thread::sleep(Duration::from_secs_f64(self.args.seconds() * 2.0));
        let used = meter::processor_time(&processes).saturating_sub(before);
        let share = used.as_secs_f64() / begun.elapsed().as_secs_f64();
        let per = |bytes: u64, connections: f64| {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let bytes = bytes as f64;
            bytes / connections
        };
        let grown = at[2].proportional.saturating_sub(at[0].proportional);
        let resident = at[1].resident.saturating_sub(empty.resident);
        results.add(IDLE, Figure::IdleProportional, peer, per(grown, 8_000.0));
        results.add(IDLE, Figure::IdleResident, peer, per(resident, 4_000.0));
        results.add(IDLE, Figure::IdleCpu, peer, share * 100.0);
        eprintln!(
            "  {IDLE} {}: {:.0} bytes a connection",
            peer.name(),
            per(grown, 8_000.0)
        );
        Ok(())
    }

    /// Opens connections that stay until the value is dropped.
    fn hold(&self, peer: Peer, connections: usize) -> Result<Held, Fault> {
        let mut command = self.lab.command(Place::Client, &self.program);
        let address = peer.offers(ECHO).to_string();
        let count = format!("--count={connections}");
        command.args(["load", "idle", &address, &count]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut held = Held(command.spawn()?);
        let out = held.0.stdout.take().expect("it is piped");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        if line.trim() == connections.to_string() {
            return Ok(held);
        }
        let mut said = String::new();
        if let Some(mut err) = held.0.stderr.take() {
            std::io::Read::read_to_string(&mut err, &mut said)?;
        }
        Err(Fault::new(format!(
            "{connections} idle connections: {}",
            said.trim()
        )))
    }
}

/// A client whose connections are idle.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn brief(sample: &Sample) -> String {
    format!(
        "{:.0}/s, p50 {:.0} us, p99 {:.0} us, loss {:.2} %",
        sample.rate, sample.p50_us, sample.p99_us, sample.loss_percent
    )
}
