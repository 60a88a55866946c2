//! The laboratory: a client, a balancer and services in three network namespaces.
//!
//! ```text
//! client 10.77.1.2 ── 10.77.1.1 balancer 10.77.2.1 ── 10.77.2.2, .3, .4 services
//! ```
//!
//! Without a balancer the client reaches the services through the balancer's namespace by routing,
//! so that "direct" goes over the same wires. All of it is gone when the value is dropped.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};

use crate::fault::Fault;

/// The three namespaces.
pub(crate) struct Lab {
    names: [String; 3],
    notes: Vec<String>,
    /// What other namespaces than the machine's own were allowed before.
    congestion: Option<String>,
}

/// One of the namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Client,
    Balancer,
    Services,
}

/// Where balancers listen.
pub(crate) const BALANCER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 1, 1));
/// Where services answer.
pub(crate) const SERVICES: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(10, 77, 2, 2)),
    IpAddr::V4(Ipv4Addr::new(10, 77, 2, 3)),
    IpAddr::V4(Ipv4Addr::new(10, 77, 2, 4)),
];

impl Lab {
    /// Builds it. Names carry the number of this process, so that two runs do not meet.
    ///
    /// # Errors
    /// Which command failed, and what it said; what was built by then is taken down.
    pub(crate) fn build() -> Result<Self, Fault> {
        let number = std::process::id();
        let mut lab = Self {
            names: ["c", "l", "s"].map(|place| format!("slbench{number}{place}")),
            notes: Vec::new(),
            congestion: allow_cubic(),
        };
        for name in lab.names.clone() {
            run("ip", &["netns", "add", &name])?;
            run("ip", &["-n", &name, "link", "set", "lo", "up"])?;
        }
        lab.set_kernel()?;
        let [client, balancer, services] = lab.names.clone();
        link(&client, &balancer, "cl")?;
        link(&balancer, &services, "ls")?;
        for (name, device, address) in [
            (&client, "cl0", "10.77.1.2/24"),
            (&balancer, "cl1", "10.77.1.1/24"),
            (&balancer, "ls0", "10.77.2.1/24"),
            (&services, "ls1", "10.77.2.2/24"),
            (&services, "ls1", "10.77.2.3/24"),
            (&services, "ls1", "10.77.2.4/24"),
        ] {
            run("ip", &["-n", name, "addr", "add", address, "dev", device])?;
            run("ip", &["-n", name, "link", "set", device, "up"])?;
        }
        for (name, via) in [(&client, "10.77.1.1"), (&services, "10.77.2.1")] {
            run("ip", &["-n", name, "route", "add", "default", "via", via])?;
        }
        Ok(lab)
    }

    /// What is not as it should be, for the report.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns a command that runs in one of the namespaces, with nothing on its standard input.
    pub(crate) fn command(&self, place: Place, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(place), program]);
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command in one of the namespaces to its end.
    ///
    /// # Errors
    /// What it said.
    pub(crate) fn run(&self, place: Place, words: &[&str]) -> Result<(), Fault> {
        let start = ["netns", "exec", self.name(place)];
        run("ip", &[&start, words].concat())
    }

    fn name(&self, place: Place) -> &str {
        let [client, balancer, services] = &self.names;
        match place {
            Place::Client => client,
            Place::Balancer => balancer,
            Place::Services => services,
        }
    }

    /// Sets what the kernel gives every peer alike: ports enough, deep queues, cubic.
    fn set_kernel(&mut self) -> Result<(), Fault> {
        for name in &self.names {
            for setting in [
                "net.ipv4.ip_local_port_range=10000 65535",
                "net.ipv4.tcp_tw_reuse=1",
                "net.core.somaxconn=65535",
                "net.ipv4.tcp_max_syn_backlog=65535",
                "net.ipv4.ip_forward=1",
                "net.ipv4.conf.all.rp_filter=0",
            ] {
                run("ip", &["netns", "exec", name, "sysctl", "-qw", setting])?;
            }
            let cubic = "net.ipv4.tcp_congestion_control=cubic";
            if run("ip", &["netns", "exec", name, "sysctl", "-qw", cubic]).is_err() {
                let note = "congestion control is the machine's own: cubic cannot be set";
                self.notes.push(note.to_owned());
            }
        }
        self.notes.dedup();
        Ok(())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in &self.names {
            // Already gone is as good.
            let _ = run("ip", &["netns", "del", name]);
        }
        if let Some(before) = &self.congestion {
            let _ = std::fs::write(ALLOWED_CONGESTION, before);
        }
    }
}

/// Lets namespaces use cubic where the machine's own list does not have it; returns the list that was
/// there, if it was changed.
fn allow_cubic() -> Option<String> {
    let before = std::fs::read_to_string(ALLOWED_CONGESTION).ok()?;
    let before = before.trim();
    if before.split_whitespace().any(|name| name == "cubic") {
        return None;
    }
    std::fs::write(ALLOWED_CONGESTION, format!("{before} cubic")).ok()?;
    Some(before.to_owned())
}

/// What sockets without privilege, and other namespaces, may choose.
const ALLOWED_CONGESTION: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Joins two namespaces by a pair of devices, `NAME0` and `NAME1`.
fn link(one: &str, other: &str, name: &str) -> Result<(), Fault> {
    let (here, there) = (format!("{name}0"), format!("{name}1"));
    let pair = [
        "link", "add", &here, "netns", one, "type", "veth", "peer", "name", &there,
    ];
    run("ip", &[&pair[..], &["netns", other]].concat())
}

fn run(program: &str, words: &[&str]) -> Result<(), Fault> {
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| Fault::new(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    Err(Fault::new(format!("{program} {}: {said}", words.join(" "))))
}
