//! What a command does, and to what.

use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verb {
    /// `add`
    Add,
    /// `set`
    Set,
    /// `unset`
    Unset,
    /// `rm`
    Rm,
    /// `enable`
    Enable,
    /// `disable`
    Disable,
    /// `bind`
    Bind,
    /// `unbind`
    Unbind,
    /// `rename`
    Rename,
    /// `show`
    Show,
    /// `stat`
    Stat,
    /// `explain`
    Explain,
    /// `clear`
    Clear,
    /// `save`
    Save,
    /// `diff`
    Diff,
    /// `apply`
    Apply,
    /// `confirm`
    Confirm,
    /// `rollback`
    Rollback,
    /// `batch`
    Batch,
    /// `help`
    Help,
    /// `exit`
    Exit,
    /// `quit`
    Quit,
    /// `man`
    Man,
    /// `history`
    History,
    /// `alias`
    Alias,
    /// `unalias`
    Unalias,
    /// `source`
    Source,
    /// `whoami`
    Whoami,
    /// `cls`
    Cls,
    /// `shell`
    Shell,
    /// `config`
    Config,
}

/// A verb that changes the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the verb of the same name")]
pub enum ConfigVerb {
    Add,
    Set,
    Unset,
    Rm,
    Enable,
    Disable,
    Bind,
    Unbind,
}

impl Verb {
    /// Returns the verb as one that changes the configuration, if it is one.
    pub fn configuring(self) -> Option<ConfigVerb> {
        match self {
            Self::Add => Some(ConfigVerb::Add),
            Self::Set => Some(ConfigVerb::Set),
            Self::Unset => Some(ConfigVerb::Unset),
            Self::Rm => Some(ConfigVerb::Rm),
            Self::Enable => Some(ConfigVerb::Enable),
            Self::Disable => Some(ConfigVerb::Disable),
            Self::Bind => Some(ConfigVerb::Bind),
            Self::Unbind => Some(ConfigVerb::Unbind),
            // Whatever can be renamed is planned in one place.
            Self::Rename
            | Self::Show
            | Self::Stat
            | Self::Explain
            | Self::Clear
            | Self::Save
            | Self::Diff
            | Self::Apply
            | Self::Confirm
            | Self::Rollback
            | Self::Batch
            | Self::Help
            | Self::Exit
            | Self::Quit
            | Self::Man
            | Self::History
            | Self::Alias
            | Self::Unalias
            | Self::Source
            | Self::Whoami
            | Self::Cls
            | Self::Shell
            | Self::Config => None,
        }
    }
}

/// What to do it to; `None` for commands of one word such as `batch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Noun {
    /// A command without an object.
    None,
    /// `server`
    Server,
    /// `service`
    Service,
    /// `serviceGroup`
    ServiceGroup,
    /// `serviceGroupMember`
    ServiceGroupMember,
    /// `servicegroupbindings`
    ServiceGroupBindings,
    /// `lb vserver`
    LbVserver,
    /// `lb parameter`
    LbParameter,
    /// `lb group`
    LbGroup,
    /// `lb persistentSessions`
    LbPersistentSessions,
    /// `lb profile`
    LbProfile,
    /// `netProfile`
    NetProfile,
    /// `ns tcpProfile`
    NsTcpProfile,
    /// `ns config`
    NsConfig,
    /// `ns runningConfig`
    NsRunningConfig,
    /// `ns savedConfig`
    NsSavedConfig,
    /// `ns ns.conf`
    NsConf,
    /// `ns rollbackcmd`
    NsRollbackCommand,
    /// `ns version`
    NsVersion,
    /// `ns connectiontable`
    NsConnectionTable,
    /// `ns info`
    NsInfo,
    /// `ns feature`
    NsFeature,
    /// `ns mode`
    NsMode,
    /// `protocol udp`
    ProtocolUdp,
    /// `cli mode`
    CliMode,
    /// `cli prompt`
    CliPrompt,
    /// `cli attribute`
    CliAttribute,
}

/// What the configuration holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the noun of the same name")]
pub enum ConfigNoun {
    Server,
    Service,
    ServiceGroup,
    LbVserver,
    LbParameter,
    LbGroup,
    LbProfile,
    NetProfile,
    NsTcpProfile,
}

impl Noun {
    /// Returns the noun as one that the configuration holds, if it is one.
    pub fn configured(self) -> Option<ConfigNoun> {
        match self {
            Self::Server => Some(ConfigNoun::Server),
            Self::Service => Some(ConfigNoun::Service),
            Self::ServiceGroup => Some(ConfigNoun::ServiceGroup),
            Self::LbVserver => Some(ConfigNoun::LbVserver),
            Self::LbParameter => Some(ConfigNoun::LbParameter),
            Self::LbGroup => Some(ConfigNoun::LbGroup),
            Self::LbProfile => Some(ConfigNoun::LbProfile),
            Self::NetProfile => Some(ConfigNoun::NetProfile),
            Self::NsTcpProfile => Some(ConfigNoun::NsTcpProfile),
            Self::None
            | Self::ServiceGroupMember
            | Self::ServiceGroupBindings
            | Self::LbPersistentSessions
            | Self::NsConfig
            | Self::NsRunningConfig
            | Self::NsSavedConfig
            | Self::NsConf
            | Self::NsRollbackCommand
            | Self::NsVersion
            | Self::NsConnectionTable
            | Self::NsInfo
            | Self::NsFeature
            | Self::NsMode
            | Self::ProtocolUdp
            | Self::CliMode
            | Self::CliPrompt
            | Self::CliAttribute => None,
        }
    }
}
