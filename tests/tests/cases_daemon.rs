//! Cases of the field about start, stop, saving, the control socket and the log, against the real
//! daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sluice_tests::daemon::{Daemon, daemon_command, free_address, new_folder};
use sluice_tests::random::Random;
use sluice_tests::rig::{PATIENCE, Rig, eventually, receive};
use sluice_tests::services::{TcpService, UdpService, reset_on_close};

fn log_has(daemon: &Daemon, text: &str) -> bool {
    daemon.log().iter().any(|line| line.contains(text))
}

/// A daemon with `--drain SECONDS`, over TCP and over UDP, and what goes on in it.
struct Draining {
    rig: Rig,
    udp: UdpSocket,
    clients: Vec<TcpStream>,
    _services: (TcpService, UdpService),
}

impl Draining {
    /// Twenty connections, of which every other one is finished by its service after 1 s, and a
    /// datagram that is answered after 500 ms.
    fn start(drain: &str) -> Self {
        let tcp = TcpService::start(|mut stream| {
            let mut kind = [0];
            if stream.read_exact(&mut kind).is_ok() && kind == *b"s" {
                thread::sleep(Duration::from_secs(1));
                let _ = stream.write_all(b"finished");
            } else {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        });
        let udp_service = UdpService::start(|datagram, _| {
            thread::sleep(Duration::from_millis(500));
            vec![datagram.to_vec()]
        });
        let rig = Rig::with(
            Daemon::start_args(&["--drain", drain]),
            "TCP",
            &[tcp.address()],
            "",
        );
        let (listen, at) = (free_address(), udp_service.address());
        let lines = format!(
            "add lb vserver u1 UDP {} {}\nadd service u1 {} UDP {}\nbind lb vserver u1 u1\n",
            listen.ip(),
            listen.port(),
            at.ip(),
            at.port()
        );
        assert_eq!(rig.daemon.batch(&lines).code, 0);
        let mut clients: Vec<_> = (0..20).map(|_| rig.connect()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            let kind: &[u8] = if number % 2 == 0 { b"s" } else { b"l" };
            client.write_all(kind).expect("the daemon reads");
        }
        eventually("all are through", || rig.vserver("request_bytes") == 20);
        let udp = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        udp.connect(listen).expect("loopback is reachable");
        udp.set_read_timeout(Some(PATIENCE)).expect("not zero");
        udp.send(b"in flight").expect("the daemon listens");
        eventually("it is with the service", || {
            rig.daemon.number("stat service u1", "packets_received") == 1
        });
        Self {
            rig,
            udp,
            clients,
            _services: (tcp, udp_service),
        }
    }

    fn terminate(&self) {
        self.rig.daemon.signal(Signal::TERM);
        eventually("the drain begins", || {
            log_has(&self.rig.daemon, "no new flows")
        });
    }
}

/// C63: SIGTERM refuses new connections at once, lets what ends within the limit end in order, and
/// then ends with status 0.
#[test]
fn c63_sigterm_drains_up_to_the_limit() {
    let mut draining = Draining::start("3");
    let started = Instant::now();
    draining.terminate();
    let listen = draining.rig.listen;
    eventually("new connections are refused", || {
        let refused = TcpStream::connect(listen).map_err(|error| error.kind());
        matches!(refused, Err(ErrorKind::ConnectionRefused))
    });
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(receive(&draining.udp), b"in flight");
    for client in draining.clients.iter_mut().step_by(2) {
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).expect("it ends in order");
        assert_eq!(answer, b"finished");
    }
    let daemon = &mut draining.rig.daemon;
    assert_eq!(daemon.wait(PATIENCE), Some(0));
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(2900), "ended after {took:?}");
    assert!(took < Duration::from_secs(5), "ended after {took:?}");
    assert!(!daemon.socket().exists());
}

/// C63: a second SIGTERM ends at once what the first one would have waited for.
#[test]
fn c63_a_second_sigterm_ends_at_once() {
    let mut draining = Draining::start("600");
    draining.terminate();
    let started = Instant::now();
    let daemon = &mut draining.rig.daemon;
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait(PATIENCE), Some(0));
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(!daemon.socket().exists());
    for client in &mut draining.clients {
        let end = client.read(&mut [0; 100]).map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset));
    }
}

/// C72: a recalled command that is edited, with completion, and run leaves the recalled one as it
/// was; the history is private, and two sessions share it.
#[test]
fn c72_editing_a_recalled_command_does_not_change_the_history() {
    const UP: &str = "\x1b[A";
    let daemon = Daemon::start_with("add lb vserver alpha TCP\nadd lb vserver beta TCP\n");
    let folder = daemon.folder();
    let open = || {
        let mut command = daemon.sluice_command();
        command
            .env("XDG_STATE_HOME", folder.path())
            .env("TERM", "xterm");
        let mut shell = expectrl::Session::spawn(command).expect("there is a terminal");
        shell.set_expect_timeout(Some(PATIENCE));
        wait_for(&mut shell, "Ctrl-D to leave");
        wait_for(&mut shell, "\x1b[K> ");
        shell
    };
    let (mut first, mut second) = (open(), open());
    let alpha = "show lb vserver alpha";
    for (shell, keys, shown) in [
        (1, format!("{alpha}\r"), "alpha ("),
        (1, format!("{UP}\r"), "alpha ("),
        (2, "show server\r".to_owned(), " Done"),
        (1, format!("{UP}{}be\t\r", "\x7f".repeat(5)), "beta ("),
    ] {
        let shell = if shell == 1 { &mut first } else { &mut second };
        expectrl::Expect::send(shell, &keys).expect("the shell reads");
        wait_for(shell, shown);
        wait_for(shell, "\x1b[K> ");
    }
    let path = folder.path().join("sluice/history");
    let text = fs::read_to_string(&path).expect("there is a history");
    let lines: Vec<_> = text.lines().filter(|line| *line != "#V2").collect();
    assert_eq!(lines, [alpha, "show server", "show lb vserver beta"]);
    let mode = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn wait_for(shell: &mut expectrl::session::OsSession, text: &str) {
    if let Err(error) = expectrl::Expect::expect(shell, text) {
        panic!("{text:?} was not printed: {error}");
    }
}

/// C73: whether something is unsaved can be seen and asked; what is saved survives, and only that.
#[test]
fn c73_unsaved_changes_are_visible_and_saving_keeps_copies() {
    let daemon = Daemon::start();
    let unsaved = |daemon: &Daemon| daemon.json("show ns config")["unsaved"].as_bool();
    daemon.ok("add server a 10.0.0.1");
    assert_eq!(unsaved(&daemon), Some(true));
    daemon.ok("save ns config");
    assert_eq!(unsaved(&daemon), Some(false));
    let config = daemon.config();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o640)).expect("it is ours");
    daemon.ok("add server b 10.0.0.2");
    daemon.ok("save ns config");
    daemon.ok("add server lost 10.0.0.3");
    let read = |name: &str| fs::read_to_string(config.with_file_name(name)).expect("it is there");
    assert_eq!(read("ns.conf.0"), "add server a 10.0.0.1\n");
    let mode = fs::metadata(&config)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o640);

    let daemon = Daemon::start_in(daemon.kill(), &["--strict"]);
    assert_eq!(
        read("ns.conf"),
        "add server a 10.0.0.1\nadd server b 10.0.0.2\n"
    );
    assert_eq!(unsaved(&daemon), Some(false));
    assert!(!daemon.ok("show server").contains("lost"));
}

/// C73: a daemon killed while it saves leaves a whole file that holds at least what was acknowledged.
#[test]
fn c73_a_kill_during_saving_leaves_a_whole_file() {
    const BASE: usize = 2000;
    let seed = 0xc73;
    let mut random = Random::new(seed);
    let server = |number: usize| {
        format!(
            "add server s{number} 10.0.{}.{}",
            number / 250,
            number % 250
        )
    };
    let mut text: String = (0..BASE).map(|number| server(number) + "\n").collect();
    let folder = Arc::new(new_folder());
    let config = folder.path().join("ns.conf");
    fs::write(&config, &text).expect("the folder is ours");
    for round in 0..8 {
        let daemon = Daemon::start_in(Arc::clone(&folder), &["--strict"]);
        let first = text.lines().count();
        let lines: String = (first..first + 5000)
            .map(|number| server(number) + "\nsave ns config\n")
            .collect();
        let batch = folder.path().join("lines");
        fs::write(&batch, lines).expect("the folder is ours");
        let mut sluice = daemon.sluice_command();
        sluice.arg("-f").arg(&batch);
        sluice
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let sluice = sluice.spawn().expect("sluice runs");
        thread::sleep(Duration::from_millis(50 + random.below(200)));
        drop(daemon.kill());
        let output = sluice.wait_with_output().expect("sluice is our child");
        let out = String::from_utf8_lossy(&output.stdout);
        let acknowledged = out.lines().filter(|line| *line == " Done").count() / 2;

        text = fs::read_to_string(&config).expect("there is a whole file");
        let place = format!("seed {seed:#x}, round {round}");
        let count = text.lines().count();
        let whole: String = (0..count).map(|number| server(number) + "\n").collect();
        assert!(text == whole, "{place}: the file is not one that was saved");
        let saved = count - first;
        assert!(
            (acknowledged..=acknowledged + 1).contains(&saved),
            "{place}: {acknowledged} saves acknowledged, {saved} in the file"
        );
    }
    assert!(text.lines().count() > BASE, "no round has saved anything");
}

fn start_in_vain(folder: &Path) -> String {
    let output = daemon_command(folder)
        .stdout(Stdio::null())
        .output()
        .expect("sluiced starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    text
}

/// C74 (a) to (d): what stands at the control socket's path and is no dead socket is left alone.
#[test]
fn c74_a_start_removes_nothing_but_a_dead_socket() {
    let daemon = Daemon::start_with("add server alive 10.0.0.1\n");
    let text = start_in_vain(daemon.folder().path());
    assert!(text.contains("already listens"), "{text}");
    assert!(daemon.ok("show server").contains("alive"));

    let folder = new_folder();
    let (socket, precious) = (
        folder.path().join("control.sock"),
        folder.path().join("precious"),
    );
    fs::write(&precious, "precious").expect("the folder is ours");
    let untouched = || {
        assert_eq!(
            fs::read_to_string(&precious).expect("it is there"),
            "precious"
        )
    };

    fs::copy(&precious, &socket).expect("the folder is ours");
    assert!(start_in_vain(folder.path()).contains("is a regular file"));
    assert_eq!(
        fs::read_to_string(&socket).expect("it is there"),
        "precious"
    );
    fs::remove_file(&socket).expect("it is there");

    symlink(&precious, &socket).expect("the folder is ours");
    assert!(start_in_vain(folder.path()).contains("is a symbolic link"));
    assert_eq!(fs::read_link(&socket).expect("it is there"), precious);
    untouched();
    fs::remove_file(&socket).expect("it is there");

    fs::create_dir(&socket).expect("the folder is ours");
    fs::write(socket.join("inside"), "").expect("the folder is ours");
    assert!(start_in_vain(folder.path()).contains("is a folder"));
    assert!(socket.join("inside").exists());
    untouched();
    fs::remove_dir_all(&socket).expect("it is ours");

    // The socket of a daemon that was killed is dead, and replaced.
    let folder = Daemon::start_in(Arc::new(folder), &[]).kill();
    assert!(socket.exists());
    Daemon::start_in(folder, &[]).ok("show ns version");
}

/// C74 (e): of ten daemons started at one moment one wins, and is reachable.
#[test]
fn c74_of_ten_starters_one_wins() {
    let folder = new_folder();
    let start = || {
        let mut command = daemon_command(folder.path());
        command
            .stderr(Stdio::null())
            .spawn()
            .expect("sluiced starts")
    };
    let mut starters: Vec<Child> = (0..10).map(|_| start()).collect();
    let running = |starters: &mut Vec<Child>| {
        let ended = |child: &mut Child| child.try_wait().expect("it is our child");
        let ended: Vec<_> = starters.iter_mut().filter_map(ended).collect();
        assert!(
            ended.iter().all(|status| status.code() == Some(1)),
            "{ended:?}"
        );
        10 - ended.len()
    };
    eventually("nine have given up", || running(&mut starters) == 1);
    let mut command = std::process::Command::new(sluice_tests::binaries::binary("sluice"));
    command
        .arg("--socket")
        .arg(folder.path().join("control.sock"));
    let output = command
        .arg("show ns version")
        .output()
        .expect("sluice runs");
    let alive = running(&mut starters);
    starters.iter_mut().for_each(|child| {
        let _ = child.kill();
        let _ = child.wait();
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(alive, 1);
}

/// C75: control bytes in names, comments and files show escaped in the log, on the screen and in
/// errors, start no line of their own, and leave JSON whole.
#[test]
fn c75_bytes_from_outside_neither_forge_lines_nor_drive_the_terminal() {
    const FORGED: &str = "2030-01-01 ERROR forged";
    // The escapes of the command language give a true line feed and return; those are legal.
    let lines = format!(
        "add server a 10.0.0.1 -comment \"x\\n{FORGED}\\r\u{202e}\"\n\
         add server \"b{esc}[2J\" 10.0.0.2\n\
         add service s1 a TCP 80 -comment \"\\n{FORGED}\\r\u{2028}\"\n\
         add lb vserver v1 TCP -comment \"{esc}[2J{esc}]0;x{bell}\u{9b}31m\"\n\
         add lb vserver v1 TCP -comment \"x\\n{FORGED}\\r\"\n\
         {esc}]0;title{bell} nonsense\n",
        esc = '\u{1b}',
        bell = '\u{7}',
    );
    let mut bytes = lines.into_bytes();
    bytes.extend_from_slice(b"add server c\xff\xfe 10.0.0.3\n");
    let folder = Arc::new(new_folder());
    fs::write(folder.path().join("ns.conf"), &bytes).expect("the folder is ours");
    let daemon = Daemon::start_in(folder, &[]);
    let batch = daemon.folder().path().join("lines");
    fs::write(&batch, &bytes).expect("the folder is ours");
    let ran = daemon.sluice(&["-f", batch.to_str().expect("the folder's name is plain")]);
    daemon.ok(&format!("set lb vserver v1 -comment \"y\\n{FORGED}\""));
    let mut printed = vec![ran.out, ran.err];
    for line in [
        "show server",
        "show server a",
        "show service s1",
        "show lb vserver v1",
        "stat lb vserver v1",
        "show ns runningConfig",
        "show ns config",
        "show server \"\u{1b}[2J\"",
    ] {
        let ran = daemon.run(line);
        printed.extend([ran.out, ran.err]);
    }
    let document = daemon.json("show server a");
    let comment = document[0]["comment"].as_str().expect("a text");
    assert_eq!(comment, format!("x\n{FORGED}\r\u{202e}"));
    for line in ["show server", "stat lb vserver", "show ns runningConfig"] {
        daemon.json(line);
        printed.push(daemon.sluice(&["--json", line]).out);
    }
    printed.push(daemon.log().join("\n"));
    for text in &printed {
        let raw = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
        assert!(!text.contains(raw), "{text:?}");
        let forged = |line: &str| line.trim_start().starts_with(FORGED);
        assert!(!text.lines().any(forged), "{text}");
    }
    let shown = printed.iter().filter(|text| text.contains(FORGED)).count();
    assert!(
        shown >= 5,
        "the comment is shown, escaped, in {shown} places"
    );
}

/// C76: clients that connect and go, politely or not, are traffic and no errors.
#[test]
fn c76_port_scans_do_not_fill_the_log() {
    const EACH: u64 = 1000;
    let service = TcpService::start(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let rig = Rig::tcp(&[service.address()], "");
    for _ in 0..EACH {
        drop(rig.connect());
    }
    eventually("all are counted", || rig.vserver("hits") == EACH);
    for _ in 0..EACH {
        let client = rig.connect();
        reset_on_close(&client);
    }
    eventually("all have gone", || rig.vserver("active") == 0);
    let mut said = rig.daemon.log();
    said.retain(|line| !line.contains("INFO changed: ") && !line.contains("starting empty"));
    assert_eq!(said, Vec::<String>::new());
    let hits = rig.vserver("hits");
    assert!((EACH..=2 * EACH).contains(&hits), "{hits}");
    rig.finish();
}
