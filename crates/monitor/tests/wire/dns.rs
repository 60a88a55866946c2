//! DNS and DNS-TCP.

use std::net::{Ipv4Addr, SocketAddr};

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use sluice_monitor::{Check, DnsQuery, Outcome, Probe, QueryType, Report};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::{ask, nothing_more_happens, probe, serve};

const TEN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

fn query(name: &str, addresses: &[Ipv4Addr]) -> DnsQuery {
    DnsQuery {
        name: name.to_owned(),
        query_type: QueryType::Address,
        addresses: addresses.iter().map(|address| (*address).into()).collect(),
    }
}

/// Makes an answer of a question.
type Answer = fn(Message) -> Vec<Vec<u8>>;

async fn serve_udp(answer: Answer) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
        for bytes in answer(Message::from_vec(&buffer[..length]).unwrap()) {
            socket.send_to(&bytes, from).await.unwrap();
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        nothing_more_happens().await;
    });
    address
}

async fn over_udp(query: DnsQuery, answer: Answer) -> Report {
    ask(&probe(Check::Dns(query)), serve_udp(answer).await).await
}

async fn over_tcp(query: DnsQuery, answer: Answer) -> Report {
    let serve = serve(move |mut stream: TcpStream| async move {
        let mut length = [0; 2];
        stream.read_exact(&mut length).await.unwrap();
        let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut bytes).await.unwrap();
        for bytes in answer(Message::from_vec(&bytes).unwrap()) {
            stream.write_all(&bytes).await.unwrap();
        }
    });
    let probe: Probe = probe(Check::DnsTcp(query));
    ask(&probe, serve.await).await
}

fn respond(mut question: Message) -> Message {
    question.metadata.message_type = MessageType::Response;
    question
}

fn with_address(question: Message) -> Message {
    let mut answer = respond(question);
    let name = answer.queries[0].name().clone();
    let other = Name::from_ascii("other.example.").unwrap();
    let alias = RData::CNAME(CNAME(other.clone()));
    answer.add_answer(Record::from_rdata(name, 60, alias));
    answer.add_answer(Record::from_rdata(other, 60, RData::A(A(TEN))));
    answer
}

fn right(question: Message) -> Vec<Vec<u8>> {
    vec![with_address(question).to_vec().unwrap()]
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes()[..], bytes].concat()
}

#[tokio::test]
async fn answer_with_a_record_or_an_expected_address_passes() {
    let report = over_udp(query("www.example", &[]), right).await;
    assert_eq!(report.text, "Success - DNS answer received.");
    let report = over_udp(query("www.example.", &[Ipv4Addr::LOCALHOST, TEN]), right).await;
    assert_eq!(report.text, "Success - DNS answer has an expected address.");
    assert_eq!(report.compared, "NOERROR and one of 127.0.0.1, 10.0.0.1");
    assert!(
        report
            .sent
            .contains(r"\x03www\x07example\x00\x00\x01\x00\x01"),
        "{}",
        report.sent
    );
}

#[tokio::test]
async fn answer_without_an_expected_address_fails() {
    let report = over_udp(query("www.example", &[Ipv4Addr::LOCALHOST]), right).await;
    let text = "Failure - DNS answer without an expected address.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
    let none = |question| vec![respond(question).to_vec().unwrap()];
    let report = over_udp(query("www.example", &[]), none).await;
    assert_eq!(report.text, "Failure - DNS answer without a record.");
}

#[tokio::test]
async fn each_type_asks_for_its_record() {
    for (query_type, expected) in [
        (QueryType::Address, RecordType::A),
        (QueryType::Aaaa, RecordType::AAAA),
        (QueryType::Zone, RecordType::SOA),
    ] {
        let query = DnsQuery {
            query_type,
            ..query("example", &[])
        };
        // The type that was asked for comes back in the name.
        let echo: Answer = |question| {
            let kind = question.queries[0].query_type().to_string();
            let mut answer = with_address(question);
            answer.answers[0].name = Name::from_ascii(format!("type-{kind}.")).unwrap();
            vec![answer.to_vec().unwrap()]
        };
        let report = over_udp(query, echo).await;
        assert_eq!(report.outcome, Outcome::Passed, "{}", report.text);
        assert!(
            report.received.contains(&format!("type-{expected}")),
            "{}",
            report.received
        );
    }
}

#[tokio::test]
async fn answer_with_an_error_fails_unless_nothing_is_asked() {
    let refuses: Answer = |question| {
        let mut answer = respond(question);
        answer.metadata.response_code = ResponseCode::Refused;
        vec![answer.to_vec().unwrap()]
    };
    let report = over_udp(query("www.example", &[]), refuses).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(
        report.text.starts_with("Failure - DNS answer "),
        "{}",
        report.text
    );
    let report = over_udp(query("", &[]), refuses).await;
    assert_eq!(report.text, "Success - DNS answer received.");

    let fails: Answer = |question| {
        let mut answer = respond(question);
        answer.metadata.response_code = ResponseCode::ServFail;
        vec![answer.to_vec().unwrap()]
    };
    let report = over_udp(query("", &[]), fails).await;
    assert_eq!(report.outcome, Outcome::Failed, "{}", report.text);
}

#[tokio::test]
async fn answer_with_another_id_is_passed_over() {
    let forged_alone: Answer = |question| {
        let mut forged = with_address(question);
        forged.metadata.id = !forged.metadata.id;
        vec![forged.to_vec().unwrap()]
    };
    let report = over_udp(query("www.example", &[]), forged_alone).await;
    let text = "Failure - Probe timed out: the DNS answer has another id.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );

    let then_right: Answer = |question| {
        let mut forged = with_address(question.clone());
        forged.metadata.id = !forged.metadata.id;
        vec![
            forged.to_vec().unwrap(),
            b"\0".to_vec(),
            with_address(question).to_vec().unwrap(),
        ]
    };
    let report = over_udp(query("www.example", &[]), then_right).await;
    assert_eq!(report.text, "Success - DNS answer received.");
}

#[tokio::test]
async fn answer_that_is_cut_or_to_another_question_fails() {
    let cut: Answer = |question| {
        let mut bytes = with_address(question).to_vec().unwrap();
        bytes.truncate(bytes.len() - 3);
        vec![bytes]
    };
    let report = over_udp(query("www.example", &[]), cut).await;
    assert_eq!(report.text, "Failure - DNS answer cannot be read.");

    let other: Answer = |question| {
        let mut answer = with_address(question);
        answer.queries[0].set_name(Name::from_ascii("forged.").unwrap());
        vec![answer.to_vec().unwrap()]
    };
    let report = over_udp(query("www.example", &[]), other).await;
    assert_eq!(report.text, "Failure - DNS answer is to another question.");

    let echo: Answer = |question| vec![question.to_vec().unwrap()];
    let report = over_udp(query("www.example", &[]), echo).await;
    assert_eq!(report.text, "Failure - DNS answer is to another question.");

    let truncated: Answer = |question| {
        let mut answer = respond(question);
        answer.metadata.truncation = true;
        vec![answer.to_vec().unwrap()]
    };
    let report = over_udp(query("www.example", &[TEN]), truncated).await;
    let text = "Failure - DNS answer is truncated, without an expected address.";
    assert_eq!(report.text, text);
    let report = over_udp(query("www.example", &[]), truncated).await;
    assert_eq!(report.text, "Success - DNS answer received.");
}

#[tokio::test]
async fn answer_over_tcp_is_whole_when_its_length_has_come() {
    let right: Answer = |question| {
        let bytes = framed(&with_address(question).to_vec().unwrap());
        vec![
            bytes[..1].to_vec(),
            bytes[1..9].to_vec(),
            bytes[9..].to_vec(),
        ]
    };
    let report = over_tcp(query("www.example", &[TEN]), right).await;
    assert_eq!(report.text, "Success - DNS answer has an expected address.");

    let cut: Answer = |question| {
        let bytes = framed(&with_address(question).to_vec().unwrap());
        vec![bytes[..bytes.len() - 1].to_vec()]
    };
    let report = over_tcp(query("www.example", &[]), cut).await;
    let text = "Failure - TCP connection closed before the DNS answer.";
    assert_eq!(report.text, text);

    let empty: Answer = |_| vec![vec![0, 0]];
    let report = over_tcp(query("www.example", &[]), empty).await;
    assert_eq!(report.text, "Failure - DNS answer cannot be read.");
}

#[tokio::test]
async fn name_that_is_none_fails_before_anything_is_sent() {
    let label = "x".repeat(64);
    let report = over_udp_nowhere(query(&label, &[])).await;
    assert_eq!(report.text, format!("Failure - {label} is no DNS name."));
    assert_eq!(report.sent, "");
}

async fn over_udp_nowhere(query: DnsQuery) -> Report {
    ask(&probe(Check::Dns(query)), "127.0.0.1:9".parse().unwrap()).await
}
