//! The bodies of the fuzzer over the corpus, and over what chance makes of it. A failure prints its seed;
//! what was found once is in the corpus.

use std::path::Path;

use sluice_tests::random::Random;

/// Prints the seed of an input that makes a body panic.
struct Seed<'a>(&'a str, u64);

impl Drop for Seed<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, seed {}", self.0, self.1);
        }
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = std::fs::read_dir(folder).expect("the corpus is in the repository");
    let mut files: Vec<_> = files
        .map(|file| file.expect("it is a file").path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "conf"));
    files.sort();
    let files = files.iter();
    files
        .map(|path| std::fs::read(path).expect("it is in the repository"))
        .collect()
}

/// Some lines of a file, so that a long one costs no more than a short one.
fn excerpt(file: &[u8], lines: usize, random: &mut Random) -> Vec<u8> {
    let all: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    let start = random.below(all.len().max(1) as u64) as usize;
    let excerpt = all
        .into_iter()
        .skip(start.saturating_sub(lines / 2))
        .take(lines);
    let mut text: Vec<u8> = excerpt.flatten().copied().collect();
    text.truncate(8 * 1024);
    text
}

/// Changes a few places: bytes, words that mean something, pieces that are gone, doubled or elsewhere.
fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        let at = random.below(text.len() as u64 + 1) as usize;
        let end = (at + random.below(40) as usize).min(text.len());
        match random.below(6) {
            0 if at < text.len() => text[at] = random.number() as u8,
            1 => {
                let word = WORDS[random.below(WORDS.len() as u64) as usize];
                text.splice(at..at, word.iter().copied());
            }
            2 => drop(text.drain(at..end)),
            3 => {
                let piece = text[at..end].to_vec();
                let to = random.below(text.len() as u64 + 1) as usize;
                text.splice(to..to, piece);
            }
            4 => {
                let word = WORDS[random.below(WORDS.len() as u64) as usize];
                text.splice(at..end, word.iter().copied());
            }
            _ => text.truncate(at.max(1)),
        }
    }
}

const WORDS: &[&[u8]] = &[
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\"",
    b"'",
    b"\\",
    b"\\\"",
    b"(",
    b")",
    b"#",
    b"-",
    b" -",
    b"q{",
    b"}",
    b"q/",
    b"\xff",
    b"\xc3",
    b"\0",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"*",
    b"0",
    b"1",
    b"65535",
    b"65536",
    b"4294967295",
    b"99999999999999999999",
    b"0.0.0.0 0",
    b"::",
    b"192.0.2.11",
    b"add ",
    b"set ",
    b"unset ",
    b"rm ",
    b"bind ",
    b"enable ",
    b"disable ",
    b"lb vserver ",
    b"lb group g ",
    b"server ",
    b"service ",
    b"lb parameter ",
    b"lb_tcp",
    b"svc_tcp",
    b"web1",
    b"v1",
    b"s1",
    b" TCP ",
    b" UDP ",
    b" ANY ",
    b" -lbMethod LEASTBANDWIDTH",
    b" -persistenceType SOURCEIP",
    b" -backupVServer v1",
    b" -state DISABLED",
    b" -weight 3 ",
    b" -comment ",
    b"cs vserver ",
    b"ssl ",
    b"\nadd lb vserver v1 TCP\n",
    b"\nadd service s1 192.0.2.11 TCP 1\n",
    b"\nbind lb vserver v1 s1\n",
    b"\nbind lb group g v1\n",
];

/// Runs `body` over the corpus and over `count` mutations of pieces of it.
fn run(name: &str, lines: usize, count: u64, body: fn(&[u8])) {
    let corpus = corpus();
    for (index, file) in corpus.iter().enumerate() {
        let _seed = Seed("a file of the corpus as it is, by number", index as u64);
        body(file);
    }
    for seed in 0..count {
        let _seed = Seed(name, seed);
        let mut random = Random::new(seed);
        let file = &corpus[random.below(corpus.len() as u64) as usize];
        let mut text = excerpt(file, lines, &mut random);
        mutate(&mut text, &mut random);
        body(&text);
    }
}

#[test]
fn words_are_where_they_say_they_are() {
    run("tokens", 3, 20_000, sluice_command::fuzz::tokens);
}

#[test]
fn commands_are_the_same_when_they_are_written_and_read_again() {
    run("commands", 3, 10_000, sluice_command::fuzz::commands);
}

#[test]
fn whatever_is_loaded_can_be_saved_and_reached_and_left() {
    run("file", 30, 1_500, sluice_config::fuzz::file);
}
