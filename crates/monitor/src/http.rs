//! HTTP and HTTP-ECV: the status and the body of an answer.
//!
//! The request is HTTP/1.1, so that servers that know nothing older answer, and asks for the end of
//! the connection. The head of an answer is parsed by `httparse`; the body is taken out of its
//! chunks here, piece by piece, so that a pattern is found across them.

mod body;
mod request;

use std::net::SocketAddr;

use self::body::Body;
use crate::search::Search;
use crate::seen::{Ended, Seen, shown};
use crate::stream::{PIECE, Stream};
use crate::tcp::compared;
use crate::{Http, HttpEcv, Probe};

/// HTTP: the status is one of those that pass.
pub(crate) async fn status(
    probe: &Probe,
    http: &Http,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    let codes = http.codes.iter().map(|range| {
        let (first, last) = (range.start(), range.end());
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    seen.compared = format!("status {}", codes.collect::<Vec<_>>().join(" "));
    match ask(probe, &http.request, &http.headers, service, seen).await {
        Ok(answer)
            if http
                .codes
                .iter()
                .any(|range| range.contains(&answer.status)) =>
        {
            Ended::passed(format!("HTTP response code {} received", answer.status))
        }
        Ok(answer) => Ended::failed(format!("HTTP response code {} received", answer.status)),
        Err(ended) => ended,
    }
}

/// HTTP-ECV: what is expected is in the body.
pub(crate) async fn answers(
    probe: &Probe,
    ecv: &HttpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    converse(probe, ecv, service, seen)
        .await
        .unwrap_or_else(|ended| ended)
}

async fn converse(
    probe: &Probe,
    ecv: &HttpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> Result<Ended, Ended> {
    seen.compared = compared(&ecv.recv, &ecv.trofs);
    if let Some(code) = ecv.trofs_code {
        seen.compared
            .push_str(&format!(", trofs if the status is {code}"));
    }
    let mut answer = ask(probe, &ecv.send, &ecv.headers, service, seen).await?;
    if ecv.trofs_code == Some(answer.status) {
        let text = format!("Trofs code {} received", answer.status);
        return Ok(Ended::out_of_service(text));
    }
    let (mut recv, mut trofs) = (Search::new(&ecv.recv), Search::new(&ecv.trofs));
    seen.waits_for(Ended::failed(
        "Probe timed out: pattern not found in response",
    ));
    let mut piece = std::mem::take(&mut answer.rest);
    let mut buffer = [0; PIECE];
    loop {
        let mut text = Vec::new();
        let is_over = answer.body.feed(&piece, &mut text).map_err(Ended::failed)?;
        if trofs.feed(&text) {
            return Ok(Ended::out_of_service("Trofs string found in response"));
        }
        let has_what_it_should = ecv.recv.is_empty() || recv.feed(&text);
        // The body may go on to say that the service goes out of service.
        if has_what_it_should && (ecv.trofs.is_empty() || is_over) {
            return Ok(Ended::passed(if ecv.recv.is_empty() {
                format!("HTTP response code {} received", answer.status)
            } else {
                "Pattern found in response".to_owned()
            }));
        }
        if is_over {
            return Ok(Ended::failed("Pattern not found in response"));
        }
        piece = answer.stream.receive(&mut buffer, seen).await?.to_vec();
        if piece.is_empty() && !answer.body.may_end_here() {
            return Err(Ended::failed("TCP connection closed within the response"));
        }
        if piece.is_empty() {
            answer.body = Body::Over;
        }
    }
}

/// An answer whose head has come.
struct Answer {
    status: u16,
    body: Body,
    stream: Stream,
    /// What came with the head of the body.
    rest: Vec<u8>,
}

async fn ask(
    probe: &Probe,
    line: &str,
    headers: &str,
    service: SocketAddr,
    seen: &mut Seen,
) -> Result<Answer, Ended> {
    let request = request::whole(line, headers, service);
    let mut stream = Stream::connect(probe, service, seen).await?;
    seen.waits_for(Ended::failed("Probe timed out: no HTTP response"));
    stream.send(&request, seen).await?;
    let mut came = Vec::new();
    let mut buffer = [0; PIECE];
    loop {
        let piece = stream.receive(&mut buffer, seen).await?;
        if piece.is_empty() {
            return Err(Ended::failed(
                "TCP connection closed before the HTTP response",
            ));
        }
        came.extend(piece);
        while let Some(head) = head(&came, request.starts_with(b"HEAD "))? {
            let rest = came.split_off(head.length);
            // 100 and 103 announce the answer; 101 is one.
            if head.status < 200 && head.status != 101 {
                came = rest;
                continue;
            }
            return Ok(Answer {
                status: head.status,
                body: head.body,
                stream,
                rest,
            });
        }
        if came.len() > LONGEST_HEAD {
            let text = format!("HTTP response head is longer than {LONGEST_HEAD} bytes");
            return Err(Ended::failed(text));
        }
    }
}

/// The head of an answer.
struct Head {
    status: u16,
    body: Body,
    /// How many bytes it takes.
    length: usize,
}

/// Reads the head of an answer; none while it is not whole.
fn head(came: &[u8], without_body: bool) -> Result<Option<Head>, Ended> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(came) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => {
            let start = shown(&came[..came.len().min(16)]);
            let text = format!("No HTTP response: {error}, it begins \"{start}\"");
            return Err(Ended::failed(text));
        }
    };
    let status = response.code.unwrap_or_default();
    let value = |name: &str| {
        let mut named = response.headers.iter();
        let found = named.find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    let is_chunked = value("transfer-encoding")
        .is_some_and(|coding| coding.to_ascii_lowercase().ends_with("chunked"));
    let body =
        if without_body || matches!(status, 100..200 | 204 | 304) {
            Body::Over
        } else if is_chunked {
            Body::chunked()
        } else {
            match value("content-length") {
                None => Body::ToTheEnd,
                Some(text) => Body::Length(text.parse().map_err(|_| {
                    Ended::failed(format!("HTTP content length {text} is no number"))
                })?),
            }
        };
    Ok(Some(Head {
        status,
        body,
        length,
    }))
}

/// As most servers have it for requests.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 96;

#[cfg(test)]
mod tests;
