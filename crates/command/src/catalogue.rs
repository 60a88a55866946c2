//! The catalogue of refusals: numbers and exact texts.
//!
//! Numbers below 10000 and their texts are the reference's and stay verbatim; those from 10000 on
//! are our own, for situations the reference has no text for. A number occurs once.
//!
//! Source: NetScaler command reference, the error catalogue shared by its shell and its API.

use crate::{Code, FaultKind};
use FaultKind::{Exists, InUse, Missing, Syntax, System, Value};

/// Every entry, in order of number.
pub const ALL: &[Code] = &[
    NOT_PERMITTED,
    NO_SUCH_RESOURCE,
    ALREADY_EXISTS,
    INVALID_ARGUMENT,
    ADDRESS_IN_USE,
    RESOURCE_IN_USE,
    NOT_SUPER_USER,
    NO_SUCH_SERVER,
    ADDRESS_CHANGE_NOT_PERMITTED,
    ENDPOINT_OF_OTHER,
    ENDPOINT_BOUND,
    NO_ARGUMENTS_TO_SET,
    NAME_OF_A_SERVICE,
    SERVER_NAME_EXISTS,
    TOO_MANY_SERVICES,
    TOO_MANY_MEMBERS,
    NOT_SUPPORTED,
    NO_SUCH_VSERVER,
    NO_SUCH_SERVICE,
    NO_SUCH_SERVICE_OR_GROUP,
    VSERVER_TYPE_MISMATCH,
    INVALID_VSERVER_TYPE,
    SAVE_IN_PROGRESS,
    NOT_SAVED,
    NO_TCP_PROFILE_HERE,
    SOME_FAILED,
    ALL_FAILED,
    LIMIT_REACHED,
    SET_NOT_SUPPORTED,
    INVALID_VALUE,
    INVALID_NAME,
    NO_SUCH_COMMAND,
    AMBIGUOUS_COMMAND,
    NO_SUCH_ARGUMENT,
    VALUE_MISSING,
    EXCLUSIVE_ARGUMENTS,
    PREREQUISITE_MISSING,
    TOO_FEW_ARGUMENTS,
    ARGUMENT_MISSING,
    OUT_OF_ORDER,
    INVALID_ARGUMENT_VALUE,
    AMBIGUOUS_ARGUMENT,
    AMBIGUOUS_VALUE,
    TEXT_TOO_LONG,
    TEXT_TOO_SHORT,
    INTEGER_TOO_LARGE,
    INTEGER_TOO_SMALL,
    INVALID_ADDRESS,
    INVALID_NETMASK,
    TOO_MANY_VALUES,
    RANGE_REVERSED,
    UNMATCHED_QUOTE,
    INVALID_RANGE,
    RANGE_SIZES_DIFFER,
    SEVERAL_RANGES,
    UNMATCHED_CHARACTER,
    ERRORS_OCCURRED,
    INCOMPLETE_COMMAND,
    NOT_VALID_HERE,
    INVALID_REGEX,
    REGEX_NOT_ALLOWED,
    INVALID_IPV6_ADDRESS,
    DOUBLE_COLON_TWICE,
    SLASH_IN_OUTFILE,
    INVALID_ALIAS,
    NO_SUCH_ALIAS,
    ALIAS_EXISTS,
    NO_SUCH_FILE,
    NOT_A_FILE,
    ARGUMENT_DEPRECATED,
    RANGE_WITH_PREFIX,
    NOT_IN_RANGE,
    AMBIGUOUS,
    SERVICE_GROUP_EXISTS,
    NO_SPILL_THRESHOLD,
    THRESHOLD_NOT_ALLOWED,
    NOT_BOUND,
    TYPE_MISMATCH,
    NO_SPILLOVER,
    INVALID_PERSISTENCE,
    SAME_BACKUP_METHOD,
    SERVER_EXISTS,
    INVALID_WEIGHT,
    NO_SUCH_LB_VSERVER,
    PERSISTENCE_TIMEOUT,
    NOT_AUTHORIZED,
    BACKUP_IN_CHAIN,
    NO_SUCH_PROFILE,
    NO_SUCH_NET_PROFILE,
    ARGUMENT_REPEATED,
    INVALID_CHARACTER,
    CANNOT_SAVE,
    BOOT_FAILURES_STAND,
    CANNOT_LISTEN,
    TOO_LONG,
    TOO_MANY_CLIENTS,
    INTERNAL,
    PROVISIONAL,
    NOTHING_PROVISIONAL,
    PROTOCOL,
    SHUTTING_DOWN,
    ANSWER_TOO_LONG,
    NOT_LOADED,
    FILE_UNREADABLE,
    OUTFILE,
    FILE_LINE_TOO_LONG,
    ALIASES_UNKEPT,
    SHELL_FAILED,
];

/// 257
pub const NOT_PERMITTED: Code = code(257, "Operation not permitted", System);
/// 258
pub const NO_SUCH_RESOURCE: Code = code(258, "No such resource", Missing);
/// 273
pub const ALREADY_EXISTS: Code = code(273, "Resource already exists", Exists);
/// 278
pub const INVALID_ARGUMENT: Code = code(278, "Invalid argument", Value);
/// 304
pub const ADDRESS_IN_USE: Code = code(304, "Address already in use", InUse);
/// 315
pub const RESOURCE_IN_USE: Code = code(315, "Resource in use", InUse);
/// 340
pub const NOT_SUPER_USER: Code = code(340, "Not super-user", System);
/// 351
pub const NO_SUCH_SERVER: Code = code(351, "No such server", Missing);
/// 419
pub const ADDRESS_CHANGE_NOT_PERMITTED: Code =
    code(419, "IP address change not permitted on this entity", Value);
/// 428
pub const ENDPOINT_OF_OTHER: Code = code(
    428,
    "IP, port conflict with another entity bound to the same vserver",
    Exists,
);
/// 429
pub const ENDPOINT_BOUND: Code = code(
    429,
    "IP, port conflict with an entity already bound to the vserver",
    Exists,
);
/// 431
pub const NO_ARGUMENTS_TO_SET: Code = code(431, "No arguments to set", Syntax);
/// 432
pub const NAME_OF_A_SERVICE: Code = code(
    432,
    "Name conflicts with an existing service or service group member name",
    Exists,
);
/// 433
pub const SERVER_NAME_EXISTS: Code = code(433, "Server name already exists", Exists);
/// 434
pub const TOO_MANY_SERVICES: Code = code(434, "Maximum services bound to vserver exceeded", Value);
/// 435
pub const TOO_MANY_MEMBERS: Code = code(
    435,
    "Maximum services bound to service group exceeded",
    Value,
);
/// 460
pub const NOT_SUPPORTED: Code = code(460, "Feature not supported in this release", Value);
/// 461
pub const NO_SUCH_VSERVER: Code = code(461, "No such Vserver", Missing);
/// 462
pub const NO_SUCH_SERVICE: Code = code(462, "No such service", Missing);
/// 463
pub const NO_SUCH_SERVICE_OR_GROUP: Code = code(463, "No such service/serviceGroup", Missing);
/// 471
pub const VSERVER_TYPE_MISMATCH: Code = code(471, "Vserver type mismatch.", Value);
/// 539
pub const INVALID_VSERVER_TYPE: Code = code(539, "Invalid service type for virtual server", Value);
/// 603
pub const SAVE_IN_PROGRESS: Code = code(
    603,
    "Configuration is being saved, please try again later",
    InUse,
);
/// 613
pub const NOT_SAVED: Code = code(613, "Configuration is not saved", System);
/// 822
pub const NO_TCP_PROFILE_HERE: Code =
    code(822, "TCP profile cannot be set to this service type", Value);
/// 1059
pub const SOME_FAILED: Code = code(1059, "Some commands failed", Value);
/// 1060
pub const ALL_FAILED: Code = code(1060, "All commands failed", Value);
/// 1072
pub const LIMIT_REACHED: Code = code(1072, "Maximum resource limit reached", System);
/// 1073
pub const SET_NOT_SUPPORTED: Code = code(1073, "Set operation not supported", Value);
/// 1074
pub const INVALID_VALUE: Code = code(1074, "Invalid value", Value);
/// 1075
pub const INVALID_NAME: Code = code(
    1075,
    "Invalid name; names must begin with an alphanumeric character or underscore and must contain \
     only alphanumerics, '_', '#', '.', ' ', ':', '@', '=' or '-'",
    Value,
);
/// 1088
pub const NO_SUCH_COMMAND: Code = code(1088, "No such command", Syntax);
/// 1089
pub const AMBIGUOUS_COMMAND: Code = code(1089, "Ambiguous command name", Syntax);
/// 1090
pub const NO_SUCH_ARGUMENT: Code = code(1090, "No such argument", Syntax);
/// 1091
pub const VALUE_MISSING: Code = code(1091, "Required argument value missing", Syntax);
/// 1092
pub const EXCLUSIVE_ARGUMENTS: Code = code(1092, "Arguments cannot both be specified", Syntax);
/// 1093
pub const PREREQUISITE_MISSING: Code = code(1093, "Argument pre-requisite missing", Syntax);
/// 1094
pub const TOO_FEW_ARGUMENTS: Code = code(1094, "Too few arguments", Syntax);
/// 1095
pub const ARGUMENT_MISSING: Code = code(1095, "Required argument missing", Syntax);
/// 1096
pub const OUT_OF_ORDER: Code = code(1096, "Argument(s) out of order", Syntax);
/// 1097
pub const INVALID_ARGUMENT_VALUE: Code = code(1097, "Invalid argument value", Value);
/// 1099
pub const AMBIGUOUS_ARGUMENT: Code = code(1099, "Ambiguous argument name", Syntax);
/// 1105
pub const AMBIGUOUS_VALUE: Code = code(1105, "Ambiguous argument value", Value);
/// 1106
pub const TEXT_TOO_LONG: Code = code(1106, "String length exceeds maximum", Value);
/// 1107
pub const TEXT_TOO_SHORT: Code = code(1107, "String too short", Value);
/// 1108
pub const INTEGER_TOO_LARGE: Code = code(1108, "Integer value exceeds maximum", Value);
/// 1109
pub const INTEGER_TOO_SMALL: Code = code(1109, "Integer value below minimum", Value);
/// 1110
pub const INVALID_ADDRESS: Code = code(1110, "Invalid IP address", Value);
/// 1111
pub const INVALID_NETMASK: Code = code(1111, "Invalid netmask", Value);
/// 1112
pub const TOO_MANY_VALUES: Code = code(1112, "Argument has too many values", Syntax);
/// 1113
pub const RANGE_REVERSED: Code = code(1113, "Range minimum exceeds range maximum", Value);
/// 1115
pub const UNMATCHED_QUOTE: Code = code(1115, "Unmatched quote", Syntax);
/// 1116
pub const INVALID_RANGE: Code = code(1116, "Invalid range specification", Value);
/// 1117
pub const RANGE_SIZES_DIFFER: Code = code(1117, "Ranges are different sizes", Value);
/// 1118
pub const SEVERAL_RANGES: Code = code(1118, "Only one range allowed per argument", Value);
/// 1119
pub const UNMATCHED_CHARACTER: Code = code(1119, "Unmatched character", Syntax);
/// 1123
pub const ERRORS_OCCURRED: Code = code(
    1123,
    "Error(s) occurred - some or all changes may not be applied",
    System,
);
/// 1128
pub const INCOMPLETE_COMMAND: Code = code(1128, "Incomplete command", Syntax);
/// 1129
pub const NOT_VALID_HERE: Code = code(1129, "Command not valid here", Syntax);
/// 1137
pub const INVALID_REGEX: Code = code(1137, "Invalid regular expression", Value);
/// 1138
pub const REGEX_NOT_ALLOWED: Code = code(1138, "Regular expression not allowed", Value);
/// 1140
pub const INVALID_IPV6_ADDRESS: Code = code(1140, "Invalid IPv6 address", Value);
/// 1141
pub const DOUBLE_COLON_TWICE: Code = code(
    1141,
    "Double-colon can appear only once in an IPv6 address",
    Value,
);
/// 1150
pub const SLASH_IN_OUTFILE: Code = code(1150, "Character '/' not allowed in outfilename", Value);
/// 1152
pub const INVALID_ALIAS: Code = code(1152, "Invalid alias", Value);
/// 1153
pub const NO_SUCH_ALIAS: Code = code(1153, "No such alias", Missing);
/// 1154
pub const ALIAS_EXISTS: Code = code(1154, "Alias already exists", Exists);
/// 1155
pub const NO_SUCH_FILE: Code = code(1155, "No such file", Missing);
/// 1156
pub const NOT_A_FILE: Code = code(1156, "Not a file", Value);
/// 1158, a warning
pub const ARGUMENT_DEPRECATED: Code = code(1158, "Argument deprecated", Syntax);
/// 1160
pub const RANGE_WITH_PREFIX: Code = code(
    1160,
    "Prefix length cannot be specified for an IPv6 range",
    Value,
);
/// 1161
pub const NOT_IN_RANGE: Code = code(1161, "Integer not in range", Value);
/// 1162
pub const AMBIGUOUS: Code = code(1162, "Ambiguous (use cmd completion for options)", Syntax);
/// 1263
pub const SERVICE_GROUP_EXISTS: Code =
    code(1263, "Service group with this name already exists", Exists);
/// 1288
pub const NO_SPILL_THRESHOLD: Code = code(
    1288,
    "Spill-over threshold should be a non-zero value",
    Value,
);
/// 1291; the blank is the reference's.
pub const THRESHOLD_NOT_ALLOWED: Code = code(
    1291,
    "Spill-over threshold cannot be set for dynamic connection spill- over method",
    Value,
);
/// 1303
pub const NOT_BOUND: Code = code(1303, "Service not bound to Vserver", Missing);
/// 1304
pub const TYPE_MISMATCH: Code = code(
    1304,
    "Service type mismatch between the vserver and service",
    Value,
);
/// 1313, a warning
pub const NO_SPILLOVER: Code = code(
    1313,
    "No spillover on the vserver due to max client setting '0' on a bound service",
    Value,
);
/// 1332
pub const INVALID_PERSISTENCE: Code = code(1332, "Invalid Persistence type", Value);
/// 1334
pub const SAME_BACKUP_METHOD: Code = code(
    1334,
    "Backup load balancing method cannot be the same as the primary load balancing method",
    Value,
);
/// 1335
pub const SERVER_EXISTS: Code = code(1335, "Server already exists", Exists);
/// 1363
pub const INVALID_WEIGHT: Code = code(1363, "Invalid weight value", Value);
/// 1367
pub const NO_SUCH_LB_VSERVER: Code = code(1367, "No such LB vserver exists", Missing);
/// 2136
pub const PERSISTENCE_TIMEOUT: Code = code(
    2136,
    "Timeout value out of range; enter a value between 2 minutes and 1440 minutes",
    Value,
);
/// 2138
pub const NOT_AUTHORIZED: Code = code(2138, "Not authorized to execute this command", System);
/// 2144
pub const BACKUP_IN_CHAIN: Code = code(2144, "The VIP is already a backup in the chain", InUse);

/// 3248
pub const NO_SUCH_PROFILE: Code = code(3248, "Profile does not exist", Missing);
/// 3956
pub const NO_SUCH_NET_PROFILE: Code = code(3956, "Netprofile does not exist", Missing);
/// 10001: an option was given twice.
pub const ARGUMENT_REPEATED: Code = code(10001, "Argument specified more than once", Syntax);
/// 10002: invalid UTF-8, an invisible blank outside quotes, or a control character in a value.
pub const INVALID_CHARACTER: Code = code(10002, "Invalid character", Syntax);
/// 10003: the file could not be written; the details say why.
pub const CANNOT_SAVE: Code = code(10003, "Configuration could not be saved", System);
/// 10004: saving would lose lines of the boot file that failed.
pub const BOOT_FAILURES_STAND: Code = code(
    10004,
    "Lines of the configuration file failed when it was loaded",
    System,
);
/// 10005: the address cannot be listened on, for a reason other than being in use.
pub const CANNOT_LISTEN: Code = code(10005, "Cannot listen on address", System);
/// 10006: a line or message is longer than the bound.
pub const TOO_LONG: Code = code(10006, "Line is too long", Syntax);
/// 10007: the daemon serves as many shells as it may.
pub const TOO_MANY_CLIENTS: Code = code(10007, "Too many control connections", System);
/// 10008: a defect of ours; the details say where.
pub const INTERNAL: Code = code(10008, "Internal error", System);
/// 10009: what would make provisional changes last has to wait until they are confirmed or undone.
pub const PROVISIONAL: Code = code(10009, "Changes are provisional", InUse);
/// 10010: there is nothing to confirm or to undo.
pub const NOTHING_PROVISIONAL: Code = code(10010, "No changes are provisional", Missing);
/// 10100: what a client sent is not the control protocol, or another version of it.
pub const PROTOCOL: Code = code(10100, "Control message not understood", System);
/// 10101: the daemon ends and changes nothing any more.
pub const SHUTTING_DOWN: Code = code(10101, "The daemon is shutting down", System);
/// 10102: one row of an answer does not fit into a message.
pub const ANSWER_TOO_LONG: Code = code(10102, "Answer is too long", System);
/// 10103: a line of the configuration file that failed at an earlier start and would run by now. It
/// does not, because nobody has said so.
pub const NOT_LOADED: Code = code(
    10103,
    "Not loaded, because it failed at an earlier start",
    System,
);
/// 10201: a file of commands cannot be read; the details say why.
pub const FILE_UNREADABLE: Code = code(10201, "File cannot be read", System);
/// 10202: the file for the output cannot be written; the details say why.
pub const OUTFILE: Code = code(10202, "Output file cannot be written", System);
/// 10203: a line of a file is longer than any command can be.
pub const FILE_LINE_TOO_LONG: Code = code(10203, "Line is too long", System);
/// 10204: the file of aliases cannot be read or written; the details say why.
pub const ALIASES_UNKEPT: Code = code(10204, "Aliases cannot be kept", System);
/// 10205: the command `shell` has ended with an error, or could not begin.
pub const SHELL_FAILED: Code = code(10205, "Shell command failed", System);

const fn code(number: u16, text: &'static str, kind: FaultKind) -> Code {
    Code { number, text, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_none_occurs_twice() {
        for pair in ALL.windows(2) {
            assert!(pair[0].number < pair[1].number, "{pair:?}");
        }
    }

    #[test]
    fn the_text_of_invalid_name_is_the_references() {
        assert_eq!(
            INVALID_NAME.text,
            "Invalid name; names must begin with an alphanumeric character or underscore and must \
             contain only alphanumerics, '_', '#', '.', ' ', ':', '@', '=' or '-'"
        );
    }

    #[test]
    fn own_texts_have_own_numbers() {
        let own = ALL.iter().filter(|code| code.number >= 10_000).count();
        assert_eq!(own, 19);
    }
}
