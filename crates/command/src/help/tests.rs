//! What help says, and that it follows the table.

use super::*;
use crate::Verb;
use crate::{catalogue, spec};

#[test]
fn a_command_is_explained_in_full() {
    assert_eq!(
        help("bind lb vserver").expect("it exists"),
        "Usage: bind lb vserver <name> <serviceName> [-weight <n>] [-order <n>]\n\
         \n\
         Binds a service or service group to a virtual server.\n\
         \n\
         where:\n\
         \x20  <name>\n\
         \x20        The name of the virtual server.\n\
         \x20        Value: the name of an existing lb vserver.\n\
         \x20  <serviceName>\n\
         \x20        The name of the service or service group.\n\
         \x20        Value: the name of an existing service or serviceGroup.\n\
         \x20  -weight <n>\n\
         \x20        The share of the service, in proportion to the weights of the others.\n\
         \x20        Value: 1-100. Default: 1.\n\
         \x20  -order <n>\n\
         \x20        Who takes traffic before it: the others stand by while one of the\n\
         \x20        first order is UP.\n\
         \x20        Value: 1-8192.\n"
    );
}

#[test]
fn every_argument_of_every_command_is_explained() {
    for noun in NOUNS {
        for spec in noun.commands {
            let words = format!(
                "{} {}",
                table::verb_word(spec.verb),
                table::noun_words(spec.noun)
            );
            let text = help(&words).expect("every command has help");
            assert!(text.starts_with("Usage: "), "{words}");
            for slot in spec.positionals {
                assert!(
                    text.contains(&format!("\n   <{}>\n", slot.arg.spelling)),
                    "{words}"
                );
            }
            for row in spec.options() {
                let option = format!("\n   -{}", row.spelling);
                assert!(text.contains(&option), "{words}{option}");
            }
        }
    }
}

#[test]
fn a_group_a_verb_and_an_object_list_one_line_synopses() {
    let lb = help("lb").expect("it is a group");
    let in_group = NOUNS.iter().filter(|noun| noun.group == Some("lb"));
    let commands: usize = in_group.map(|noun| noun.commands.len()).sum();
    assert_eq!(lb.lines().count(), commands);
    let vserver = help("lb vs").expect("it is an object");
    assert_eq!(
        vserver.lines().next(),
        Some("add lb vserver <name> <serviceType> [<IPAddress> <port>] [-<option> ...]")
    );
    assert!(lb.contains(&vserver), "{lb}");
    assert_eq!(help("vserver"), Ok(vserver));
    assert_eq!(
        help("bind").expect("it is a verb"),
        "bind serviceGroup <serviceGroupName> [<serverName> <port>] [-<option> ...]\n\
         bind lb vserver <name> <serviceName> [-<option> ...]\nbind lb group <name> <vServerName> ...\n"
    );
    assert_eq!(
        help("show ns").expect("it is a verb and a group"),
        "show ns config\nshow ns runningConfig [-withDefaults]\nshow ns savedConfig\nshow ns ns.conf\n\
         show ns rollbackcmd\nshow ns version\nshow ns connectiontable [<filterexpression>]\n\
         show ns info\nshow ns feature\nshow ns mode\n\
         show ns tcpProfile [<name>]\n"
    );
    assert_eq!(help("save"), Ok("save ns config [-force]\n".to_owned()));
}

#[test]
fn the_overview_names_every_object_and_shell_command() {
    let text = help("").expect("no words are fine");
    for word in [
        "lb vserver",
        "server",
        "service",
        "ns config",
        "batch",
        "help",
        "exit",
        "quit",
    ] {
        assert!(text.contains(&format!("\n   {word} ")), "{word}");
    }
    assert_eq!(help("  # nothing"), Ok(text));
}

#[test]
fn unknown_and_ambiguous_words_are_refused() {
    let refused = |words: &str| help(words).expect_err("it is refused");
    assert_eq!(
        refused("frobnicate").to_string(),
        "No such command [frobnicate]"
    );
    assert_eq!(refused("serv").to_string(), "Ambiguous command name [serv]");
    assert_eq!(refused("s").code, catalogue::AMBIGUOUS_COMMAND.number);
    assert_eq!(refused("add cs").to_string(), "No such command [add cs]");
    assert_eq!(refused("add server x").to_string(), "No such command [x]");
    assert_eq!(refused("lb vserver x").to_string(), "No such command [x]");
    assert_eq!(refused("\"a").code, catalogue::UNMATCHED_QUOTE.number);
}

#[test]
fn short_synopses_show_required_options_and_a_single_optional_one() {
    let short = |verb, noun| short_synopsis(spec(verb, noun).expect("it exists"));
    assert_eq!(
        short(Verb::Batch, Noun::None),
        "batch -fileName <fileName> [-<option> ...]"
    );
    assert_eq!(short(Verb::Rm, Noun::Server), "rm server <name> ...");
    assert_eq!(short(Verb::Show, Noun::Service), "show service [<name>]");
    assert_eq!(short(Verb::Help, Noun::None), "help [<command> ...] [-all]");
    assert_eq!(
        short(Verb::Unset, Noun::Server),
        "unset server <name> [-comment]"
    );
}

#[test]
fn lines_stay_within_the_width_where_words_allow() {
    for noun in NOUNS {
        for spec in noun.commands {
            let text = in_full(spec);
            for line in text.lines().filter(|line| line.starts_with(INDENT)) {
                assert!(line.len() <= WIDTH || !line.trim().contains(' '), "{line}");
            }
        }
    }
}
