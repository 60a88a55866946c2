//! What README.md promises: its tour works as printed, as root and as an ordinary user.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use sluice_tests::binaries::binary;
use sluice_tests::daemon::{Daemon, free_address, new_folder};
use sluice_tests::rig::{Rig, ask, be_patient};
use sluice_tests::services::{TcpService, UdpService};

const README: &str = include_str!("../../README.md");

/// A command of the tour and the lines printed below it.
#[derive(Debug)]
struct Step {
    command: String,
    printed: Vec<String>,
}

/// Returns the steps of the tour: what follows a prompt in its console blocks.
fn tour(prompts: &[&str]) -> Vec<Step> {
    let (_, tour) = README
        .split_once("## Five minutes by hand")
        .expect("the tour");
    let tour = tour.split("\n## ").next().expect("the tour");
    let mut steps: Vec<Step> = Vec::new();
    let mut in_step = false;
    for line in tour.lines() {
        let command = prompts.iter().find_map(|prompt| line.strip_prefix(prompt));
        match command {
            _ if line.starts_with("```") => in_step = false,
            Some(command) => {
                in_step = true;
                steps.push(Step {
                    command: command.to_owned(),
                    printed: Vec::new(),
                });
            }
            None if line.starts_with("$ ") || line.starts_with("> ") => in_step = false,
            None if in_step => {
                let step = steps.last_mut().expect("a step has begun");
                step.printed.push(line.to_owned());
            }
            None => {}
        }
    }
    steps
}

/// What of a printed line is the same at every run: up to the first number that is measured.
fn lasting(line: &str) -> &str {
    const MEASURED: [&str; 4] = ["state change", "...", "\"hits\":", "  "];
    let line = line.trim_end();
    if line.trim_matches([' ', '^']).is_empty() {
        // Carets stand below what was typed, which is not printed again here.
        return "";
    }
    let indent = line.len() - line.trim_start().len();
    let ends = MEASURED.iter().filter_map(|mark| line[indent..].find(mark));
    &line[..ends.min().map_or(line.len(), |end| indent + end)]
}

fn assert_printed(step: &Step, printed: &str) {
    for line in &step.printed {
        let lasting = lasting(line);
        let found = printed.lines().any(|line| line.starts_with(lasting));
        assert!(found, "{lasting:?} of {step:?} is not in\n{printed}");
    }
}

fn get(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).expect("the daemon listens");
    be_patient(&stream);
    stream
        .write_all(b"GET / HTTP/1.0\r\n\r\n")
        .expect("the daemon reads");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("the answer ends in order");
    assert!(answer.ends_with("hello"), "{answer}");
}

/// The web server of the tour.
fn web() -> TcpService {
    TcpService::start(|mut stream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhello");
    })
}

#[test]
fn the_tour_works_as_it_is_printed() {
    let (web, daemon, listen) = (web(), Daemon::start(), free_address());
    let own = |text: &str| {
        text.replace("127.0.0.1 9000", &format!("127.0.0.1 {}", listen.port()))
            .replace("127.0.0.1:9000", &listen.to_string())
            .replace("8001", &web.address().port().to_string())
    };
    let steps = tour(&["> ", "*> ", "confirm?> "]);
    assert!(steps.len() >= 8, "{steps:#?}");
    for step in &steps {
        if step.command == "quit" {
            continue;
        }
        if step.command.starts_with("show lb vserver") {
            (0..5).for_each(|_| get(listen));
        }
        let ran = daemon.run(&own(&step.command));
        let fails = step.printed.iter().any(|line| line.starts_with("ERROR"));
        assert_eq!(ran.code, i32::from(fails), "{step:?}: {ran:?}");
        let here = Step {
            command: step.command.clone(),
            printed: step.printed.iter().map(|line| own(line)).collect(),
        };
        assert_printed(&here, &format!("{}{}", ran.out, ran.err));
    }

    let folder = daemon.folder();
    fs::write(
        folder.path().join("commands.txt"),
        "show server\nshow service\nshow lb vserver\n",
    )
    .expect("the folder is ours");
    let steps = tour(&["$ sluice "]);
    assert!(steps.len() >= 4, "{steps:#?}");
    for step in &steps {
        let words = step.command.trim_start_matches("--socket /tmp/my.sock ");
        let words: Vec<_> = words.split(' ').collect();
        let mut command = daemon.sluice_command();
        let output = command.args(words).current_dir(folder.path()).output();
        let output = output.expect("sluice runs");
        assert_eq!(output.status.code(), Some(0), "{step:?}: {output:?}");
        let printed = [output.stdout, output.stderr].concat();
        assert_printed(step, &String::from_utf8_lossy(&printed));
    }

    // What was saved is there again, as the tour says.
    let running = daemon.ok("show ns runningConfig");
    daemon.ok("enable service s1");
    let saved = fs::read_to_string(daemon.config()).expect("it was saved");
    assert!(
        saved.contains("bind lb vserver v1 s1 -weight 3\n"),
        "{saved}"
    );
    assert!(
        running.contains("bind lb vserver v1 s1 -weight 3\n"),
        "{running}"
    );
}

/// An ordinary user has smaller pipes and buffers; nothing is lost for that.
#[test]
fn much_goes_through_at_once_over_tcp_and_udp() {
    const LENGTH: usize = 4 << 20;
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    thread::scope(|scope| {
        for number in 0..24 {
            let mut stream = rig.connect();
            scope.spawn(move || {
                let mut writer = stream.try_clone().expect("there are descriptors");
                let bytes = vec![number; LENGTH];
                let sender = thread::spawn(move || writer.write_all(&bytes));
                let mut echo = vec![0; LENGTH];
                stream.read_exact(&mut echo).expect("it comes back");
                assert!(echo.iter().all(|byte| *byte == number));
                sender.join().expect("no panic").expect("the daemon reads");
            });
        }
    });
    assert_eq!(rig.vserver("response_bytes"), 24 * LENGTH as u64);
    rig.finish();

    let service = UdpService::echo();
    let rig = Rig::udp(&[service.address()], "-cltTimeout 1");
    let clients: Vec<UdpSocket> = (0..50).map(|_| rig.client()).collect();
    for length in [0, 1, 1472, 9000, 65_507] {
        let datagram = vec![7; length];
        for client in &clients {
            assert!(ask(client, &datagram) == datagram, "{length} bytes");
        }
    }
    assert_eq!(rig.vserver("packets_sent"), 250);
    rig.finish();
}

/// Runs the other tests of this file again as an ordinary user, when root runs them.
#[test]
fn an_ordinary_user_can_do_all_this() {
    if !rustix::process::geteuid().is_root() {
        // They have run as an ordinary user already.
        return;
    }
    let own = std::env::current_exe().expect("the system knows the running executable");
    let folder = new_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let copy = folder.path().join("readme");
    fs::copy(own, &copy).expect("there is room");
    // They take the binaries that stand beside them.
    for name in ["sluiced", "sluice"] {
        fs::copy(binary(name), folder.path().join(name)).expect("there is room");
    }
    let output = Command::new(copy)
        .args(["the_tour_works", "much_goes_through"])
        .env("HOME", folder.path())
        .env_remove("XDG_RUNTIME_DIR")
        .current_dir(folder.path())
        .gid(NOBODY)
        .uid(NOBODY)
        .output()
        .expect("the copy runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(printed.contains("2 passed"), "{printed}");
}

/// The user and group of no rights on Linux.
const NOBODY: u32 = 65_534;
