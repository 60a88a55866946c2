//! The table of the command language: what can be typed, what it means and how it is written back.
//!
//! One file per noun. A row of an argument is its single description: the parser, the renderer,
//! completion, help and the reference page all read it. Invariants, tested in `tests.rs`: no two
//! rows a command can take share a spelling, every key has a row, every text is filled in, every
//! choice has at least one value, and a default is a value its row accepts.

mod accepted;
mod cli;
mod feature;
mod lb_group;
mod lb_parameter;
mod lb_persistent_sessions;
mod lb_profile;
mod lb_vserver;
mod net_profile;
mod ns;
mod ns_tcp_profile;
mod rows;
mod server;
mod service;
mod service_group;
mod shell;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

use rows::{
    COMMENT_TEXT, DELAY, ENABLED_DISABLED, GRACEFUL, IDLE_SECONDS, MASK_LENGTH, MINUTES_OR_COOKIE,
    ON_OFF, PERSISTENCE_MINUTES, STAT_OPTIONS, YES_NO, appflow_log, comment, devno, many, once,
    optional, row, state, together,
};

use crate::{ConfigVerb, IdleDefaults, Key, Noun, TypeSpec, Value, Verb};

/// All nouns, in the order of a saved configuration; the commands without a noun come last.
pub static NOUNS: &[&NounSpec] = &[
    &ns::CONFIG,
    &ns::RUNNING_CONFIG,
    &ns::SAVED_CONFIG,
    &ns::NS_CONF,
    &ns::ROLLBACK_COMMAND,
    &ns::VERSION,
    &ns::CONNECTION_TABLE,
    &ns::INFO,
    &feature::FEATURE,
    &feature::MODE,
    &ns::PROTOCOL_UDP,
    &ns_tcp_profile::NS_TCP_PROFILE,
    &net_profile::NET_PROFILE,
    &server::SERVER,
    &service::SERVICE,
    &service_group::SERVICE_GROUP,
    &service_group::MEMBER,
    &service_group::BINDINGS,
    &lb_parameter::LB_PARAMETER,
    &lb_profile::LB_PROFILE,
    &lb_vserver::LB_VSERVER,
    &lb_group::LB_GROUP,
    &lb_persistent_sessions::LB_PERSISTENT_SESSIONS,
    &cli::MODE,
    &cli::PROMPT,
    &cli::ATTRIBUTE,
    &shell::SHELL,
];

/// All verbs and the words for them.
pub static VERBS: &[(Verb, &str)] = &[
    (Verb::Add, "add"),
    (Verb::Set, "set"),
    (Verb::Unset, "unset"),
    (Verb::Rm, "rm"),
    (Verb::Enable, "enable"),
    (Verb::Disable, "disable"),
    (Verb::Bind, "bind"),
    (Verb::Unbind, "unbind"),
    (Verb::Rename, "rename"),
    (Verb::Show, "show"),
    (Verb::Stat, "stat"),
    (Verb::Explain, "explain"),
    (Verb::Clear, "clear"),
    (Verb::Save, "save"),
    (Verb::Diff, "diff"),
    (Verb::Apply, "apply"),
    (Verb::Confirm, "confirm"),
    (Verb::Rollback, "rollback"),
    (Verb::Batch, "batch"),
    (Verb::Help, "help"),
    (Verb::Exit, "exit"),
    (Verb::Quit, "quit"),
    (Verb::Man, "man"),
    (Verb::History, "history"),
    (Verb::Alias, "alias"),
    (Verb::Unalias, "unalias"),
    (Verb::Source, "source"),
    (Verb::Whoami, "whoami"),
    (Verb::Cls, "cls"),
    (Verb::Shell, "shell"),
    (Verb::Config, "config"),
];

/// Everything about a noun.
#[derive(Debug)]
pub struct NounSpec {
    /// Which.
    pub noun: Noun,
    /// The first word of two, as `lb`; it may be left out where the object is unique.
    pub group: Option<&'static str>,
    /// The word of the object; empty for [`Noun::None`].
    pub object: &'static str,
    /// What can be done to it.
    pub commands: &'static [CommandSpec],
    /// The options of `add`, in the order they are saved; `set` and `unset` take those that say so.
    /// Without an `add`, those of the `set` that is saved.
    pub options: &'static [ArgSpec],
    /// What it is, one sentence without a full stop.
    pub help: &'static str,
}

/// One command.
#[derive(Debug)]
pub struct CommandSpec {
    /// What to do.
    pub verb: Verb,
    /// To what.
    pub noun: Noun,
    /// Words that come first and have no keyword, in order.
    pub positionals: &'static [Positional],
    /// Options of this command alone, before those of the noun.
    pub own: &'static [ArgSpec],
    /// What it does, one sentence without a full stop.
    pub help: &'static str,
}

impl CommandSpec {
    /// Returns the options this command takes.
    /// Shape: its own first, then those of the noun in saved order.
    pub fn options(&self) -> impl Iterator<Item = &'static ArgSpec> + use<> {
        let verb = self.verb.configuring();
        let shared = options(self.noun).iter().filter(move |row| match verb {
            Some(ConfigVerb::Add) => true,
            Some(ConfigVerb::Set) => row.settable,
            Some(ConfigVerb::Unset) => row.unsettable,
            Some(
                ConfigVerb::Rm
                | ConfigVerb::Enable
                | ConfigVerb::Disable
                | ConfigVerb::Bind
                | ConfigVerb::Unbind,
            )
            | None => false,
        });
        self.own.iter().chain(shared)
    }

    /// Returns the option `key`, if this command takes it.
    pub fn option(&self, key: Key) -> Option<&'static ArgSpec> {
        self.options().find(|row| row.key == key)
    }

    /// Tells whether options of this command are names only, without values.
    pub fn names_only(&self) -> bool {
        self.verb == Verb::Unset
    }
}

/// A word without a keyword.
#[derive(Debug)]
pub struct Positional {
    /// What it is.
    pub arg: ArgSpec,
    /// How often it stands.
    pub times: Times,
}

/// How often a positional stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Exactly once.
    Once,
    /// Once or not at all.
    Optional,
    /// Exactly once behind an [`Times::Optional`] that is there, else not at all.
    Together,
    /// Once or more; it is the last one.
    Many,
    /// Not at all or more; it is the last one.
    Any,
    /// Exactly once, unless it is left out together with all that follow; then it has this value.
    Else(&'static str),
}

/// One argument: a positional or an option.
#[derive(Clone, Debug)]
pub struct ArgSpec {
    /// Its meaning.
    pub key: Key,
    /// Its canonical spelling, without the dash.
    pub spelling: &'static str,
    /// Other spellings that are read and never written.
    pub aliases: &'static [&'static str],
    /// What its value may be.
    pub kind: Kind,
    /// A second value of the same option.
    pub then: Option<Then>,
    /// Whether a command that takes it needs it, as an option.
    pub required: bool,
    /// What holds when it is not given.
    pub default: Default,
    /// Whether `set` takes it.
    pub settable: bool,
    /// Whether `unset` takes it.
    pub unsettable: bool,
    /// Whether nobody is to read its value: it stays out of histories and logs.
    pub secret: bool,
    /// Whether it does something here.
    pub effect: Effect,
    /// When it is written into a saved configuration.
    pub saved: Saved,
    /// What it means, one sentence without a full stop.
    pub help: &'static str,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value at all.
    Flag,
    /// The name of an object that is to be made.
    NewName(Noun),
    /// The name of an object that exists.
    Name(Noun),
    /// The name of a service or of a service group.
    BoundName,
    /// Free text; lengths in bytes.
    Text {
        /// The fewest bytes.
        min: usize,
        /// The most bytes.
        max: usize,
    },
    /// The name of a file in the current folder.
    PlainFile,
    /// A decimal number.
    Integer {
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
        /// What it counts, as in "0-3600 seconds"; may be empty.
        unit: &'static str,
    },
    /// An address of one host.
    Address,
    /// An address to listen on: of one host, `*`, `::`, or `0.0.0.0` for none.
    ListenAddress,
    /// An address of one host, stored under [`Key::Address`], or the name of an object.
    AddressOrName(Noun),
    /// An IPv4 mask: ones, then zeros.
    Netmask,
    /// A port, 1-65535.
    Port,
    /// A port to listen on, 1-65535, or 0 with the address `0.0.0.0`.
    ListenPort,
    /// One of a closed list.
    Choice(&'static Choices),
}

/// A closed list of values.
#[derive(Debug, PartialEq, Eq)]
pub struct Choices {
    /// The values and what they mean.
    pub allowed: &'static [(&'static str, &'static str)],
    /// Other spellings, and the value each stands for.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Values of the reference that are not available here, to say so instead of "unknown".
    pub elsewhere: &'static [&'static str],
}

/// The second value of an option.
#[derive(Clone, Copy, Debug)]
pub struct Then {
    /// What it is called in a synopsis.
    pub spelling: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether it must be given.
    pub required: bool,
    /// The argument it is stored as; `None` is the second value of the option itself.
    pub key: Option<Key>,
}

/// What holds when an argument is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Nothing.
    None,
    /// A number.
    Integer(u64),
    /// A number that depends on the type of the service or virtual server.
    IntegerByType {
        /// For connections.
        tcp: u64,
        /// For datagrams.
        udp: u64,
        /// For the web and what is like it.
        web: u64,
    },
    /// A text.
    Text(&'static str),
    /// A mask.
    Netmask(Ipv4Addr),
    /// One of the choices.
    Choice(&'static str),
    /// A choice that depends on the type.
    ChoiceByType {
        /// For connections.
        tcp: &'static str,
        /// For datagrams.
        udp: &'static str,
    },
}

impl Default {
    /// Returns the value for an object of `service_type` (one of [`TypeSpec`]; ignored where it does
    /// not matter).
    pub fn value(self, service_type: &str) -> Option<Value> {
        let idle = TypeSpec::named(service_type).map_or(IdleDefaults::Stream, |known| known.idle);
        match self {
            Self::None => None,
            Self::Integer(number) => Some(Value::Integer(number)),
            Self::IntegerByType { tcp, udp, web } => Some(Value::Integer(match idle {
                IdleDefaults::Stream => tcp,
                IdleDefaults::Datagram => udp,
                IdleDefaults::Web => web,
            })),
            Self::Text(text) => Some(Value::Text(text.to_owned())),
            Self::Netmask(mask) => Some(Value::Address(mask.into())),
            Self::Choice(text) => Some(Value::Choice(text.to_owned())),
            Self::ChoiceByType { tcp, udp } => Some(Value::Choice(
                match idle {
                    IdleDefaults::Datagram => udp,
                    IdleDefaults::Stream | IdleDefaults::Web => tcp,
                }
                .to_owned(),
            )),
        }
    }
}

/// Whether an option does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It does what the reference says.
    Works,
    /// It is kept and written back, and does nothing; why, as a clause: "the data path ...".
    NoEffect(&'static str),
}

/// When an option is written into a saved configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Always, default or not.
    Always,
    /// When it differs from the default.
    NotDefault,
}

/// Returns everything about `noun`.
pub fn noun(noun: Noun) -> &'static NounSpec {
    match noun {
        Noun::None => &shell::SHELL,
        Noun::Server => &server::SERVER,
        Noun::Service => &service::SERVICE,
        Noun::ServiceGroup => &service_group::SERVICE_GROUP,
        Noun::ServiceGroupMember => &service_group::MEMBER,
        Noun::ServiceGroupBindings => &service_group::BINDINGS,
        Noun::LbVserver => &lb_vserver::LB_VSERVER,
        Noun::LbParameter => &lb_parameter::LB_PARAMETER,
        Noun::LbGroup => &lb_group::LB_GROUP,
        Noun::LbPersistentSessions => &lb_persistent_sessions::LB_PERSISTENT_SESSIONS,
        Noun::NsConfig => &ns::CONFIG,
        Noun::NsRunningConfig => &ns::RUNNING_CONFIG,
        Noun::NsSavedConfig => &ns::SAVED_CONFIG,
        Noun::NsConf => &ns::NS_CONF,
        Noun::NsRollbackCommand => &ns::ROLLBACK_COMMAND,
        Noun::NsVersion => &ns::VERSION,
        Noun::NsConnectionTable => &ns::CONNECTION_TABLE,
        Noun::NsInfo => &ns::INFO,
        Noun::NsFeature => &feature::FEATURE,
        Noun::NsMode => &feature::MODE,
        Noun::ProtocolUdp => &ns::PROTOCOL_UDP,
        Noun::CliMode => &cli::MODE,
        Noun::CliPrompt => &cli::PROMPT,
        Noun::CliAttribute => &cli::ATTRIBUTE,
        Noun::LbProfile => &lb_profile::LB_PROFILE,
        Noun::NetProfile => &net_profile::NET_PROFILE,
        Noun::NsTcpProfile => &ns_tcp_profile::NS_TCP_PROFILE,
    }
}

/// Returns the options of `noun` in saved order.
pub fn options(noun: Noun) -> &'static [ArgSpec] {
    self::noun(noun).options
}

/// Returns the command of `verb` on `noun`, if there is one.
pub fn spec(verb: Verb, noun: Noun) -> Option<&'static CommandSpec> {
    self::noun(noun)
        .commands
        .iter()
        .find(|command| command.verb == verb)
}

/// Returns the word for `verb`.
pub fn verb_word(verb: Verb) -> &'static str {
    VERBS
        .iter()
        .find(|(candidate, _)| *candidate == verb)
        .map(|(_, word)| *word)
        .expect("the table lists every verb")
}

/// Returns the words for `noun`: `lb vserver`; empty for [`Noun::None`].
pub fn noun_words(noun: Noun) -> String {
    let spec = self::noun(noun);
    match spec.group {
        Some(group) => format!("{group} {}", spec.object),
        None => spec.object.to_owned(),
    }
}
