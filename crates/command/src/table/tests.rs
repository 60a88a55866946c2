//! The table itself: what must hold of every row.

use super::*;
use crate::value::read;

fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    NOUNS.iter().flat_map(|noun| noun.commands)
}

fn rows(spec: &'static CommandSpec) -> impl Iterator<Item = &'static ArgSpec> {
    spec.positionals
        .iter()
        .map(|slot| &slot.arg)
        .chain(spec.options())
}

fn place(spec: &CommandSpec) -> String {
    format!("{} {}", verb_word(spec.verb), noun_words(spec.noun))
}

#[test]
fn no_command_takes_two_options_of_one_spelling_or_one_key() {
    for spec in commands() {
        let mut spellings: Vec<String> = Vec::new();
        let mut keys: Vec<Key> = spec.positionals.iter().map(|slot| slot.arg.key).collect();
        for row in spec.options() {
            spellings.extend(
                std::iter::once(&row.spelling)
                    .chain(row.aliases)
                    .map(|word| word.to_ascii_lowercase()),
            );
            keys.push(row.key);
        }
        let (words, count) = (spellings.len(), keys.len());
        spellings.sort();
        spellings.dedup();
        keys.sort();
        keys.dedup();
        assert_eq!(
            (spellings.len(), keys.len()),
            (words, count),
            "{}",
            place(spec)
        );
    }
}

#[test]
fn no_command_stands_twice_and_every_one_names_its_noun() {
    let mut seen = Vec::new();
    for noun in NOUNS {
        for spec in noun.commands {
            assert_eq!(spec.noun, noun.noun, "{}", place(spec));
            assert!(!seen.contains(&(spec.verb, spec.noun)), "{}", place(spec));
            assert!(std::ptr::eq(
                super::spec(spec.verb, spec.noun).expect("listed"),
                spec
            ));
            seen.push((spec.verb, spec.noun));
        }
        assert!(std::ptr::eq(super::noun(noun.noun), *noun));
    }
    for (verb, word) in VERBS {
        assert_eq!(verb_word(*verb), *word);
        assert!(
            seen.iter().any(|(seen, _)| seen == verb),
            "{word} does nothing"
        );
    }
}

#[test]
fn every_text_is_a_sentence_without_its_full_stop() {
    let sentence = |text: &str, place: &str| {
        let first = text.chars().next().expect("the text is filled in");
        assert!(first.is_uppercase(), "{place}: {text}");
        assert!(
            !text.ends_with('.') && !text.contains("  "),
            "{place}: {text}"
        );
    };
    for noun in NOUNS {
        sentence(noun.help, &noun_words(noun.noun));
    }
    for spec in commands() {
        sentence(spec.help, &place(spec));
        for row in rows(spec) {
            sentence(row.help, row.spelling);
            if let Effect::NoEffect(why) = row.effect {
                assert!(!why.is_empty() && !why.ends_with('.'), "{}", row.spelling);
            }
        }
    }
}

#[test]
fn every_choice_has_values_and_no_word_twice() {
    for row in commands().flat_map(rows) {
        let kinds = std::iter::once(row.kind).chain(row.then.map(|then| then.kind));
        for kind in kinds {
            let Kind::Choice(choices) = kind else {
                continue;
            };
            assert!(!choices.allowed.is_empty(), "{}", row.spelling);
            assert!(choices.allowed.iter().all(|(_, help)| !help.is_empty()));
            let mut words: Vec<&str> = choices.allowed.iter().map(|(word, _)| *word).collect();
            for (_, meaning) in choices.aliases {
                assert!(words.contains(meaning), "{meaning}");
            }
            words.extend(choices.aliases.iter().map(|(word, _)| *word));
            words.extend(choices.elsewhere);
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), count, "{}", row.spelling);
        }
    }
}

#[test]
fn every_default_is_a_value_the_row_takes() {
    for row in commands().flat_map(rows) {
        for service_type in ["TCP", "UDP"] {
            let Some(value) = row.default.value(service_type) else {
                continue;
            };
            let text = crate::render::text(&value);
            assert_eq!(
                read(row.kind, row.spelling, &text),
                Ok(value),
                "{}",
                row.spelling
            );
        }
        if row.saved == Saved::Always {
            assert_ne!(row.default, Default::None, "{}", row.spelling);
        }
    }
}

#[test]
fn positionals_that_may_be_absent_or_repeat_come_last() {
    for spec in commands() {
        let mut open = false;
        for slot in spec.positionals {
            let together = matches!(slot.times, Times::Else(_) | Times::Together);
            assert!(!open || together, "{}", place(spec));
            open = slot.times != Times::Once;
            if let Times::Else(text) = slot.times {
                assert!(read(slot.arg.kind, slot.arg.spelling, text).is_ok());
            }
        }
    }
}

#[test]
fn what_can_be_unset_can_be_set_and_has_a_way_back() {
    for noun in NOUNS {
        for row in noun.options {
            assert!(row.settable || !row.unsettable, "{}", row.spelling);
            assert!(row.kind != Kind::Flag, "{}", row.spelling);
        }
    }
}

#[test]
fn every_second_value_with_a_key_has_a_row_of_its_own() {
    for spec in commands() {
        for then in spec.options().filter_map(|row| row.then) {
            let Some(key) = then.key else { continue };
            let row = spec.option(key).expect("it can be given alone");
            assert_eq!((row.spelling, row.kind), (then.spelling, then.kind));
        }
    }
}

#[test]
fn a_saved_service_has_the_appliances_options_in_its_order() {
    let always = |noun| -> Vec<&str> {
        options(noun)
            .iter()
            .filter(|row| row.saved == Saved::Always)
            .map(|row| row.spelling)
            .collect()
    };
    assert_eq!(
        always(Noun::Service),
        [
            "gslb",
            "maxClient",
            "maxReq",
            "cip",
            "usip",
            "useproxyport",
            "sp",
            "cltTimeout",
            "svrTimeout",
            "CKA",
            "TCPB",
            "CMP"
        ]
    );
    assert_eq!(
        always(Noun::ServiceGroup),
        [
            "maxClient",
            "maxReq",
            "cip",
            "usip",
            "useproxyport",
            "cltTimeout",
            "svrTimeout",
            "CKA",
            "TCPB",
            "CMP"
        ]
    );
    assert_eq!(always(Noun::LbVserver), ["persistenceType", "cltTimeout"]);
    assert_eq!(
        ordered(Noun::LbVserver, &ORDER_OF_A_VSERVER),
        ORDER_OF_A_VSERVER
    );
}

/// Returns those of `words` that are options of `noun`, in saved order.
fn ordered(noun: Noun, words: &[&str]) -> Vec<&'static str> {
    let spellings = options(noun).iter().map(|row| row.spelling);
    spellings.filter(|word| words.contains(word)).collect()
}

/// As in lines that appliances saved.
const ORDER_OF_A_VSERVER: [&str; 4] = ["persistenceType", "timeout", "lbMethod", "cltTimeout"];

#[test]
fn every_key_has_a_row() {
    let keys: Vec<Key> = commands().flat_map(rows).map(|row| row.key).collect();
    for key in ALL_KEYS {
        assert!(keys.contains(key), "{key:?}");
    }
    // DevNo is declared last: a new key before it fails here until it is in the list.
    assert_eq!(ALL_KEYS.len(), Key::DevNo as usize + 1);
}

const ALL_KEYS: &[Key] = &[
    Key::Name,
    Key::Address,
    Key::ServerName,
    Key::ServiceType,
    Key::Port,
    Key::ServiceName,
    Key::VserverName,
    Key::NewName,
    Key::IpAddress,
    Key::State,
    Key::Comment,
    Key::MaxClient,
    Key::CltTimeout,
    Key::SvrTimeout,
    Key::DownStateFlush,
    Key::Weight,
    Key::LbMethod,
    Key::Netmask,
    Key::V6NetmaskLen,
    Key::DataLength,
    Key::DataOffset,
    Key::HashId,
    Key::PersistenceType,
    Key::Timeout,
    Key::PersistMask,
    Key::V6PersistMaskLen,
    Key::SkipPersistency,
    Key::UsePortForHashLb,
    Key::AllowBoundSvcRemoval,
    Key::LbHashAlgorithm,
    Key::LbHashFingers,
    Key::SessionsThreshold,
    Key::TcpInline,
    Key::TcpInlineRetries,
    Key::TcpInlineShare,
    Key::TcpInlineSample,
    Key::TcpInlineRespTimeout,
    Key::TcpInlineDownTime,
    Key::TcpInlineMaxDownTime,
    Key::ConnectTries,
    Key::PersistenceParameter,
    Key::SrcIp,
    Key::SrcPort,
    Key::DestIp,
    Key::NewServiceRequest,
    Key::NewServiceRequestUnit,
    Key::NewServiceRequestIncrementInterval,
    Key::BackupVserver,
    Key::DisablePrimaryOnDown,
    Key::SoMethod,
    Key::SoThreshold,
    Key::SoPersistence,
    Key::SoPersistenceTimeOut,
    Key::SoBackupAction,
    Key::HealthThreshold,
    Key::Order,
    Key::OrderThreshold,
    Key::ToggleOrder,
    Key::MaxBandwidth,
    Key::IncludeMembers,
    Key::Force,
    Key::FileName,
    Key::NTimes,
    Key::OutFile,
    Key::Words,
    Key::Level,
    Key::Confirm,
    Key::Configs,
    Key::WithDefaults,
    Key::OutType,
    Key::Template,
    Key::IgnoreDeviceSpecific,
    Key::Feature,
    Key::NsMode,
    Key::Detail,
    Key::FullValues,
    Key::ClearStats,
    Key::All,
    Key::Pattern,
    Key::PromptString,
    Key::Page,
    Key::Total,
    Key::Color,
    Key::DisabledFeatureAction,
    Key::Regex,
    Key::FilterExpression,
    Key::Gslb,
    Key::MaxReq,
    Key::Cip,
    Key::Usip,
    Key::UseProxyPort,
    Key::Sp,
    Key::Cka,
    Key::Tcpb,
    Key::Cmp,
    Key::CustomServerId,
    Key::NameServer,
    Key::AutoScale,
    Key::MemberPort,
    Key::AutoDisableGraceful,
    Key::AutoDisableDelay,
    Key::AutoDelayedTrofs,
    Key::HashLength,
    Key::BackupLbMethod,
    Key::TrofsPersistence,
    Key::Delay,
    Key::GraceFul,
    Key::PersistenceBackup,
    Key::BackupPersistenceTimeout,
    Key::CookieName,
    Key::CookieDomain,
    Key::Rule,
    Key::UseVserverPersistency,
    Key::HttpOnlyCookieFlag,
    Key::UseEncryptedPersistenceCookie,
    Key::UseSecuredPersistenceCookie,
    Key::CookiePassphrase,
    Key::ConsolidatedLConn,
    Key::PreferDirectRoute,
    Key::StartupRrFactor,
    Key::MonitorSkipMaxClient,
    Key::MonitorConnectionClose,
    Key::VServerSpecificMac,
    Key::RetainServiceState,
    Key::DbsTtl,
    Key::MaxPipelineNat,
    Key::LiteralAdcCookieAttribute,
    Key::ComputedAdcCookieAttribute,
    Key::StoreMqttClientIdAndUsername,
    Key::DropMqttJumboMessage,
    Key::ProximityFromSelf,
    Key::UndefAction,
    Key::Cacheable,
    Key::HttpProfileName,
    Key::DnsProfileName,
    Key::QuicProfileName,
    Key::Td,
    Key::ProcessLocal,
    Key::ClearTextPort,
    Key::CacheType,
    Key::PathMonitor,
    Key::PathMonitorIndv,
    Key::RtspSessionIdRemap,
    Key::AccessDown,
    Key::Range,
    Key::IpSet,
    Key::ListenPolicy,
    Key::ListenPriority,
    Key::Mode,
    Key::TosId,
    Key::Sessionless,
    Key::MacModeRetainVlan,
    Key::L2Conn,
    Key::RtspNat,
    Key::RedirectFromPort,
    Key::HttpsRedirectUrl,
    Key::ProbeProtocol,
    Key::ProbePort,
    Key::TcpProbePort,
    Key::ProbeSuccessResponseCode,
    Key::ConnFailover,
    Key::IcmpVsrResponse,
    Key::RhiState,
    Key::RetainConnectionsOnCluster,
    Key::MinAutoscaleMembers,
    Key::MaxAutoscaleMembers,
    Key::OwnerGroup,
    Key::ResRule,
    Key::PersistAvpNo,
    Key::RedirectUrl,
    Key::RedirectPortRewrite,
    Key::InsertVserverIpPort,
    Key::AuthenticationHost,
    Key::Authentication,
    Key::Authn401,
    Key::AuthnVsName,
    Key::AuthnProfile,
    Key::Push,
    Key::PushVserver,
    Key::PushLabel,
    Key::PushMultiClients,
    Key::DbProfileName,
    Key::OracleServerVersion,
    Key::MssqlServerVersion,
    Key::MysqlProtocolVersion,
    Key::MysqlServerVersion,
    Key::MysqlCharacterSet,
    Key::MysqlServerCapabilities,
    Key::DbsLb,
    Key::Dns64,
    Key::BypassAaaa,
    Key::RecursionAvailable,
    Key::DnsOverHttps,
    Key::AdfsProxyProfile,
    Key::QuicBridgeProfileName,
    Key::ApiProfile,
    Key::Ws,
    Key::TcpSack,
    Key::WsVal,
    Key::Nagle,
    Key::AckOnPush,
    Key::Mss,
    Key::MaxBurst,
    Key::InitialCwnd,
    Key::DelayedAck,
    Key::OooQSize,
    Key::MaxPktPerMss,
    Key::PktPerRetx,
    Key::MinRto,
    Key::SlowStartIncr,
    Key::BufferSize,
    Key::SynCookie,
    Key::Ka,
    Key::KaProbeUpdateLastActivity,
    Key::KaConnIdleTime,
    Key::KaMaxProbes,
    Key::KaProbeInterval,
    Key::Flavor,
    Key::DynamicReceiveBuffering,
    Key::Mptcp,
    Key::MptcpDropData,
    Key::MptcpFastOpen,
    Key::MptcpSessionTimeout,
    Key::SendBuffSize,
    Key::TcpSegOffload,
    Key::RstWindowAttenuate,
    Key::RstMaxAck,
    Key::SpoofSynDrop,
    Key::Ecn,
    Key::TimeStamp,
    Key::EstablishClientConn,
    Key::AckAggregation,
    Key::Frto,
    Key::MaxCwnd,
    Key::Fack,
    Key::TcpMode,
    Key::TcpFastOpen,
    Key::Hystart,
    Key::DupAckThresh,
    Key::BurstRateControl,
    Key::TcpRate,
    Key::RateQMax,
    Key::DropHalfClosed,
    Key::DropEstablished,
    Key::Dsack,
    Key::ApplyAdaptiveTcp,
    Key::ClientIpTcpOption,
    Key::ClientIpTcpOptionNumber,
    Key::MpCapableCbit,
    Key::Rfc5961Compliance,
    Key::SendClientPort,
    Key::SlowStartThreshold,
    Key::TailLossProbe,
    Key::TcpFastOpenCookieSize,
    Key::SrcIpPersistency,
    Key::OverrideLsn,
    Key::Mbf,
    Key::ProxyProtocol,
    Key::ProxyProtocolTxVersion,
    Key::ProxyProtocolAfterTls,
    Key::TcpProfileName,
    Key::NetProfile,
    Key::LbProfileName,
    Key::AppflowLog,
    Key::DevNo,
];
