use super::body::Body;
use super::request::whole;
use super::*;

fn sent(line: &str, headers: &str) -> String {
    let service = "10.0.0.1:8080".parse().unwrap();
    String::from_utf8(whole(line, headers, service)).unwrap()
}

#[test]
fn request_gets_what_a_whole_one_needs() {
    let rest = "Host: 10.0.0.1:8080\r\nUser-Agent: sluice-monitor\r\nConnection: close\r\n";
    assert_eq!(sent("HEAD /", ""), format!("HEAD / HTTP/1.1\r\n{rest}\r\n"));
    assert_eq!(sent("", ""), format!("GET / HTTP/1.1\r\n{rest}\r\n"));
    assert_eq!(
        sent("GET /a?b HTTP/1.0\r\nX-A: 1\r\n", "X-B: 2"),
        format!("GET /a?b HTTP/1.0\r\n{rest}X-A: 1\r\nX-B: 2\r\n\r\n")
    );
    assert_eq!(
        sent("GET /", "host: web\r\nconnection: keep-alive\r\n"),
        "GET / HTTP/1.1\r\nUser-Agent: sluice-monitor\r\n\
         host: web\r\nconnection: keep-alive\r\n\r\n"
    );
}

#[test]
fn whole_request_goes_as_it_is() {
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(sent(request, "X-A: 1"), request);
}

/// Feeds a body in pieces of each length; all must come to the same.
fn body(make: impl Fn() -> Body, wire: &[u8]) -> Result<(Vec<u8>, bool), &'static str> {
    let fed = |length| {
        let (mut body, mut text, mut is_over) = (make(), Vec::new(), false);
        for piece in wire.chunks(length) {
            is_over = body.feed(piece, &mut text)?;
        }
        Ok((text, is_over))
    };
    let whole = fed(wire.len());
    for length in 1..wire.len() {
        assert_eq!(fed(length), whole, "in pieces of {length}");
    }
    whole
}

#[test]
fn body_is_taken_out_of_its_chunks_however_they_are_cut() {
    let wire = b"3\r\nrea\r\n0A ; a=b\r\ndy now: yes\r\n";
    // One byte too many for its size.
    assert_eq!(
        body(Body::chunked, wire),
        Err("HTTP chunk is longer than its size")
    );
    let wire = b"3\r\nrea\r\n0B ; a=b\r\ndy now: yes\r\n0\r\nTrailer: x\r\n\r\n";
    assert_eq!(
        body(Body::chunked, wire),
        Ok((b"ready now: yes".to_vec(), true))
    );
}

#[test]
fn chunks_that_are_none_are_refused() {
    for wire in [
        &b"\r\n"[..],
        b"x\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"11111111111111111\r\n",
    ] {
        assert_eq!(
            body(Body::chunked, wire),
            Err("HTTP chunk without a size"),
            "{wire:?}"
        );
    }
    let endless = [b'1'; 300];
    assert_eq!(
        body(Body::chunked, &endless),
        Err("HTTP chunk without a size")
    );
}

#[test]
fn body_ends_at_its_length() {
    assert_eq!(
        body(|| Body::Length(3), b"abcd"),
        Ok((b"abc".to_vec(), true))
    );
    assert_eq!(
        body(|| Body::Length(9), b"abcd"),
        Ok((b"abcd".to_vec(), false))
    );
    assert_eq!(
        body(|| Body::ToTheEnd, b"abcd"),
        Ok((b"abcd".to_vec(), false))
    );
}

#[test]
fn head_says_how_the_body_is_framed() {
    let read = |text: &str, is_head| {
        let head = head(text.as_bytes(), is_head).ok().flatten().unwrap();
        assert_eq!(head.length, text.len());
        (head.status, head.body)
    };
    let ok = "HTTP/1.1 200 OK\r\n";
    assert_eq!(read(&format!("{ok}\r\n"), false), (200, Body::ToTheEnd));
    assert_eq!(
        read(&format!("{ok}content-length: 5\r\n\r\n"), false),
        (200, Body::Length(5))
    );
    assert_eq!(
        read(&format!("{ok}Content-Length: 5\r\n\r\n"), true),
        (200, Body::Over)
    );
    let chunked = "Transfer-Encoding: gzip, Chunked\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(
        read(&format!("{ok}{chunked}"), false),
        (200, Body::chunked())
    );
    assert_eq!(read("HTTP/1.1 204 No\r\n\r\n", false), (204, Body::Over));
    assert!(head(b"HTTP/1.1 200 OK\r\nA: b\r\n", false).is_ok_and(|head| head.is_none()));
    assert!(head(b"220 smtp ready\r\n", false).is_err());
    assert!(head(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", false).is_err());
}
