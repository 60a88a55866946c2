//! The client against a daemon of a few lines.

use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use sluice_command::{FaultKind, Verb};

use super::*;

/// A folder of its own for one test, gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sluice-protocol-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("control.sock")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Serves one connection: what it answers is `script`, whatever the client says.
fn daemon(folder: &Folder, script: Vec<u8>) -> JoinHandle<Vec<u8>> {
    let listener = UnixListener::bind(folder.socket()).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&script).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        // A client that gives up resets the connection; what it said until then has been read.
        let _ = stream.read_to_end(&mut heard);
        heard
    })
}

fn hello(version: u32, product: &str) -> Vec<u8> {
    let product = product.to_owned();
    codec::frame(&Hello { version, product }).unwrap()
}

fn script(replies: &[Reply]) -> Vec<u8> {
    let mut script = hello(VERSION, "9.8.7");
    for reply in replies {
        script.extend_from_slice(&codec::frame(reply).unwrap());
    }
    script
}

fn command() -> Command {
    Command {
        verb: Verb::Show,
        noun: Noun::Server,
        args: Vec::new(),
    }
}

fn name(text: &str) -> Reply {
    Reply::Row(Box::new(Row::Name(text.to_owned())))
}

#[test]
fn rows_and_warnings_arrive_in_order_before_the_end() {
    let folder = Folder::new();
    let warning = Reply::Warning("careful".to_owned());
    let heard = daemon(
        &folder,
        script(&[name("a"), warning, name("b"), Reply::Done]),
    );

    let mut client = Client::connect(folder.socket()).unwrap();
    assert_eq!(client.daemon(), "9.8.7");
    let mut events = Vec::new();
    let outcome = client
        .run(&command(), &mut |event| events.push(event))
        .unwrap();
    drop(client);

    assert_eq!(outcome, Outcome::Done);
    let row = |text: &str| Event::Row(Box::new(Row::Name(text.to_owned())));
    assert_eq!(
        events,
        [row("a"), Event::Warning("careful".to_owned()), row("b")]
    );
    let mut sent = hello(VERSION, PRODUCT);
    sent.extend_from_slice(&codec::frame(&Request::Run(command())).unwrap());
    assert_eq!(heard.join().unwrap(), sent);
}

#[test]
fn a_refused_command_is_an_outcome_and_the_connection_goes_on() {
    let folder = Folder::new();
    let fault = Fault {
        code: 273,
        text: "Resource already exists".to_owned(),
        details: None,
        hints: Vec::new(),
        kind: FaultKind::Exists,
    };
    let replies = [
        Reply::Error(fault.clone()),
        name("s1"),
        name("s2"),
        Reply::Done,
    ];
    let heard = daemon(&folder, script(&replies));

    let mut client = Client::connect(folder.socket()).unwrap();
    let outcome = client.run(&command(), &mut |_| panic!("no rows")).unwrap();
    assert_eq!(outcome, Outcome::Error(fault));
    assert_eq!(client.names(Noun::Service).unwrap(), ["s1", "s2"]);
    drop(client);
    heard.join().unwrap();
}

#[test]
fn without_a_socket_or_a_listener_the_error_says_what_to_start() {
    let folder = Folder::new();
    let path = folder.socket();
    let text = format!(
        "no daemon listens on {}; start sluiced, or name its socket with --socket",
        path.display()
    );
    assert_eq!(Client::connect(&path).unwrap_err().to_string(), text);
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert_eq!(Client::connect(&path).unwrap_err().to_string(), text);
}

#[test]
fn another_protocol_version_is_named_with_both_product_versions() {
    let folder = Folder::new();
    let heard = daemon(&folder, hello(VERSION + 1, "7.0.0"));
    let error = Client::connect(folder.socket()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "this is version {PRODUCT} and the daemon on {} is version 7.0.0; \
             install the same version of sluice and sluiced",
            folder.socket().display()
        )
    );
    heard.join().unwrap();
}

#[test]
fn a_daemon_that_goes_away_is_told_from_a_refusal() {
    let folder = Folder::new();
    let heard = daemon(&folder, script(&[name("a")]));
    let mut client = Client::connect(folder.socket()).unwrap();
    for _ in 0..2 {
        let error = client.run(&command(), &mut |_| {}).unwrap_err();
        assert!(matches!(error, ClientError::Closed { .. }), "{error}");
    }
    heard.join().unwrap();
}

#[test]
fn a_service_that_is_no_daemon_is_called_so() {
    let folder = Folder::new();
    let heard = daemon(&folder, b"220 mail.example ESMTP\r\n".to_vec());
    let error = Client::connect(folder.socket()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "what listens on {} does not speak the control protocol: \
             a frame has the length 842149920, at most 1048576 are allowed",
            folder.socket().display()
        )
    );
    heard.join().unwrap();
}

#[test]
fn a_request_that_does_not_fit_leaves_the_connection_usable() {
    let folder = Folder::new();
    let heard = daemon(&folder, script(&[Reply::Done]));
    let mut client = Client::connect(folder.socket()).unwrap();
    let mut long = command();
    long.args.push(sluice_command::Arg {
        key: sluice_command::Key::Words,
        values: vec![sluice_command::Value::Text("x".repeat(crate::FRAME_MAX))],
    });
    let error = client.run(&long, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ClientError::Request(_)), "{error}");
    assert_eq!(client.run(&command(), &mut |_| {}).unwrap(), Outcome::Done);
    drop(client);
    heard.join().unwrap();
}

#[test]
fn a_row_that_is_no_name_is_not_taken_for_one() {
    let folder = Folder::new();
    let line = Reply::Row(Box::new(Row::Line("add server s1 10.0.0.1".to_owned())));
    let heard = daemon(&folder, script(&[line, Reply::Done]));
    let mut client = Client::connect(folder.socket()).unwrap();
    let error = client.names(Noun::Server).unwrap_err();
    assert!(matches!(error, ClientError::Foreign { .. }), "{error}");
    drop(client);
    heard.join().unwrap();
}
