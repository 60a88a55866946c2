//! What a command does, to what, and which arguments it has.

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

/// An argument, positional or option, by its meaning. `Key` is named after the canonical spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each row of the table documents its key")]
pub enum Key {
    // positional
    Name,
    Address,
    ServerName,
    ServiceType,
    Port,
    ServiceName,
    VserverName,
    NewName,
    Delay,
    // options that work
    GraceFul,
    IpAddress,
    State,
    Comment,
    MaxClient,
    CltTimeout,
    SvrTimeout,
    DownStateFlush,
    Weight,
    LbMethod,
    Netmask,
    V6NetmaskLen,
    DataLength,
    DataOffset,
    HashId,
    PersistenceType,
    Timeout,
    PersistMask,
    V6PersistMaskLen,
    SkipPersistency,
    TrofsPersistence,
    UsePortForHashLb,
    AllowBoundSvcRemoval,
    LbHashAlgorithm,
    LbHashFingers,
    SessionsThreshold,
    PersistenceParameter,
    SrcIp,
    SrcPort,
    DestIp,
    NewServiceRequest,
    NewServiceRequestUnit,
    NewServiceRequestIncrementInterval,
    BackupVserver,
    DisablePrimaryOnDown,
    SoMethod,
    SoThreshold,
    SoPersistence,
    SoPersistenceTimeOut,
    SoBackupAction,
    HealthThreshold,
    Order,
    OrderThreshold,
    ToggleOrder,
    MaxBandwidth,
    IncludeMembers,
    Force,
    FileName,
    NTimes,
    OutFile,
    Words,
    Level,
    Confirm,
    Configs,
    WithDefaults,
    OutType,
    Template,
    IgnoreDeviceSpecific,
    Feature,
    NsMode,
    Detail,
    FullValues,
    ClearStats,
    All,
    Pattern,
    PromptString,
    Page,
    Total,
    Color,
    DisabledFeatureAction,
    Regex,
    FilterExpression,
    // options without effect here, kept and written back
    Gslb,
    MaxReq,
    Cip,
    Usip,
    UseProxyPort,
    Sp,
    Cka,
    Tcpb,
    Cmp,
    CustomServerId,
    NameServer,
    AutoScale,
    MemberPort,
    AutoDisableGraceful,
    AutoDisableDelay,
    AutoDelayedTrofs,
    HashLength,
    BackupLbMethod,
    PersistenceBackup,
    BackupPersistenceTimeout,
    CookieName,
    CookieDomain,
    Rule,
    UseVserverPersistency,
    HttpOnlyCookieFlag,
    UseEncryptedPersistenceCookie,
    UseSecuredPersistenceCookie,
    CookiePassphrase,
    ConsolidatedLConn,
    PreferDirectRoute,
    StartupRrFactor,
    MonitorSkipMaxClient,
    MonitorConnectionClose,
    VServerSpecificMac,
    RetainServiceState,
    DbsTtl,
    MaxPipelineNat,
    LiteralAdcCookieAttribute,
    ComputedAdcCookieAttribute,
    StoreMqttClientIdAndUsername,
    DropMqttJumboMessage,
    ProximityFromSelf,
    UndefAction,
    Cacheable,
    HttpProfileName,
    DnsProfileName,
    QuicProfileName,
    Td,
    ProcessLocal,
    ClearTextPort,
    CacheType,
    PathMonitor,
    PathMonitorIndv,
    RtspSessionIdRemap,
    AccessDown,
    Range,
    IpSet,
    ListenPolicy,
    ListenPriority,
    Mode,
    TosId,
    Sessionless,
    MacModeRetainVlan,
    L2Conn,
    RtspNat,
    RedirectFromPort,
    HttpsRedirectUrl,
    ProbeProtocol,
    ProbePort,
    TcpProbePort,
    ProbeSuccessResponseCode,
    ConnFailover,
    IcmpVsrResponse,
    RhiState,
    RetainConnectionsOnCluster,
    MinAutoscaleMembers,
    MaxAutoscaleMembers,
    OwnerGroup,
    ResRule,
    PersistAvpNo,
    RedirectUrl,
    RedirectPortRewrite,
    InsertVserverIpPort,
    AuthenticationHost,
    Authentication,
    Authn401,
    AuthnVsName,
    AuthnProfile,
    Push,
    PushVserver,
    PushLabel,
    PushMultiClients,
    DbProfileName,
    OracleServerVersion,
    MssqlServerVersion,
    MysqlProtocolVersion,
    MysqlServerVersion,
    MysqlCharacterSet,
    MysqlServerCapabilities,
    DbsLb,
    Dns64,
    BypassAaaa,
    RecursionAvailable,
    DnsOverHttps,
    AdfsProxyProfile,
    QuicBridgeProfileName,
    ApiProfile,
    Ws,
    TcpSack,
    WsVal,
    Nagle,
    AckOnPush,
    Mss,
    MaxBurst,
    InitialCwnd,
    DelayedAck,
    OooQSize,
    MaxPktPerMss,
    PktPerRetx,
    MinRto,
    SlowStartIncr,
    BufferSize,
    SynCookie,
    Ka,
    KaProbeUpdateLastActivity,
    KaConnIdleTime,
    KaMaxProbes,
    KaProbeInterval,
    Flavor,
    DynamicReceiveBuffering,
    Mptcp,
    MptcpDropData,
    MptcpFastOpen,
    MptcpSessionTimeout,
    SendBuffSize,
    TcpSegOffload,
    RstWindowAttenuate,
    RstMaxAck,
    SpoofSynDrop,
    Ecn,
    TimeStamp,
    EstablishClientConn,
    AckAggregation,
    Frto,
    MaxCwnd,
    Fack,
    TcpMode,
    TcpFastOpen,
    Hystart,
    DupAckThresh,
    BurstRateControl,
    TcpRate,
    RateQMax,
    DropHalfClosed,
    DropEstablished,
    Dsack,
    ApplyAdaptiveTcp,
    ClientIpTcpOption,
    ClientIpTcpOptionNumber,
    MpCapableCbit,
    Rfc5961Compliance,
    SendClientPort,
    SlowStartThreshold,
    TailLossProbe,
    TcpFastOpenCookieSize,
    SrcIpPersistency,
    OverrideLsn,
    Mbf,
    ProxyProtocol,
    ProxyProtocolTxVersion,
    ProxyProtocolAfterTls,
    TcpProfileName,
    NetProfile,
    LbProfileName,
    AppflowLog,
    DevNo,
}
