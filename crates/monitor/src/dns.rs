//! DNS and DNS-TCP: what a name server answers to a question.
//!
//! Over UDP an answer with another number is somebody else's or forged: it is passed over, and the
//! right one waited for. One with the right number that cannot be read is a failure.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hickory_proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use crate::seen::{Ended, Seen};
use crate::stream::{PIECE, Stream};
use crate::{DnsQuery, Probe, QueryType, udp};

/// DNS: asks over UDP.
pub(crate) async fn answers(
    source: Option<IpAddr>,
    query: &DnsQuery,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    let question = match question(query, seen) {
        Ok(question) => question,
        Err(ended) => return ended,
    };
    let asked = ask(source, query, &question, service, seen).await;
    asked.unwrap_or_else(|error| udp::failed(&error))
}

async fn ask(
    source: Option<IpAddr>,
    query: &DnsQuery,
    question: &Question,
    service: SocketAddr,
    seen: &mut Seen,
) -> io::Result<Ended> {
    let socket = udp::connected(source, service).await?;
    seen.begin();
    seen.sent.add(&question.bytes);
    socket.send(&question.bytes).await?;
    let mut buffer = vec![0; 65_536];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let answer = &buffer[..length];
        seen.received.add(answer);
        if answer.starts_with(&question.message.metadata.id.to_be_bytes()) {
            return Ok(judge(query, &question.message, answer));
        }
        seen.waits_for(Ended::failed(
            "Probe timed out: the DNS answer has another id",
        ));
    }
}

/// DNS-TCP: asks over TCP.
pub(crate) async fn answers_over_tcp(
    probe: &Probe,
    query: &DnsQuery,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    ask_over_tcp(probe, query, service, seen)
        .await
        .unwrap_or_else(|ended| ended)
}

async fn ask_over_tcp(
    probe: &Probe,
    query: &DnsQuery,
    service: SocketAddr,
    seen: &mut Seen,
) -> Result<Ended, Ended> {
    let question = question(query, seen)?;
    let mut stream = Stream::connect(probe, service, seen).await?;
    seen.waits_for(Ended::failed("Probe timed out: no DNS answer"));
    let length = u16::try_from(question.bytes.len()).expect("a question is short");
    let framed = [&length.to_be_bytes()[..], &question.bytes].concat();
    stream.send(&framed, seen).await?;
    let mut answer = Vec::new();
    let mut buffer = [0; PIECE];
    loop {
        let piece = stream.receive(&mut buffer, seen).await?;
        if piece.is_empty() {
            return Err(Ended::failed("TCP connection closed before the DNS answer"));
        }
        answer.extend(piece);
        let Some((length, rest)) = answer.split_first_chunk() else {
            continue;
        };
        if let Some(whole) = rest.get(..usize::from(u16::from_be_bytes(*length))) {
            return Ok(judge(query, &question.message, whole));
        }
    }
}

/// A question, as it is and as it is sent.
struct Question {
    message: Message,
    bytes: Vec<u8>,
}

fn question(query: &DnsQuery, seen: &mut Seen) -> Result<Question, Ended> {
    seen.compared = compared(query);
    seen.waits_for(Ended::failed("Probe timed out: no DNS answer"));
    let mut name = Name::from_utf8(&query.name).map_err(|_| no_name(query))?;
    name.set_fqdn(true);
    let record = match query.query_type {
        QueryType::Address => RecordType::A,
        QueryType::Aaaa => RecordType::AAAA,
        QueryType::Zone => RecordType::SOA,
    };
    // Its number is random.
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, record));
    let bytes = message.to_vec().map_err(|_| no_name(query))?;
    Ok(Question { message, bytes })
}

fn no_name(query: &DnsQuery) -> Ended {
    Ended::failed(format!("{} is no DNS name", query.name))
}

fn compared(query: &DnsQuery) -> String {
    if query.name.is_empty() {
        return "any answer but SERVFAIL".to_owned();
    }
    let addresses: Vec<_> = query.addresses.iter().map(IpAddr::to_string).collect();
    match addresses.as_slice() {
        [] => "NOERROR and a record".to_owned(),
        [one] => format!("NOERROR and {one}"),
        several => format!("NOERROR and one of {}", several.join(", ")),
    }
}

/// Says what an answer means that has the number of the question.
fn judge(query: &DnsQuery, question: &Message, answer: &[u8]) -> Ended {
    let Ok(answer) = Message::from_vec(answer) else {
        return Ended::failed("DNS answer cannot be read");
    };
    let is_answer = answer.metadata.message_type == MessageType::Response
        && answer.metadata.id == question.metadata.id
        && answer.metadata.op_code == question.metadata.op_code;
    // A server that refuses the question may leave it out.
    let is_ours = answer.queries.is_empty() || answer.queries == question.queries;
    if !is_answer || !is_ours {
        return Ended::failed("DNS answer is to another question");
    }
    let code = answer.metadata.response_code;
    if query.name.is_empty() && code != ResponseCode::ServFail {
        return Ended::passed("DNS answer received");
    }
    if code != ResponseCode::NoError {
        return Ended::failed(format!("DNS answer {}", code.to_str()));
    }
    let is_wanted = |data: &RData| match data {
        RData::A(address) => query.addresses.contains(&IpAddr::V4(address.0)),
        RData::AAAA(address) => query.addresses.contains(&IpAddr::V6(address.0)),
        _ => false,
    };
    let mut records = answer.answers.iter();
    match (query.addresses.is_empty(), answer.metadata.truncation) {
        (true, false) if answer.answers.is_empty() => Ended::failed("DNS answer without a record"),
        (true, _) => Ended::passed("DNS answer received"),
        (false, _) if records.any(|record| is_wanted(&record.data)) => {
            Ended::passed("DNS answer has an expected address")
        }
        (false, true) => Ended::failed("DNS answer is truncated, without an expected address"),
        (false, false) => Ended::failed("DNS answer without an expected address"),
    }
}
