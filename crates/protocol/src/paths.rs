//! Where daemon and shell look when nobody tells them. Flags and environment variables of the
//! programs come before these.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the control socket's place for the user of this process.
pub fn default_socket() -> PathBuf {
    socket_of(user(), variable("XDG_RUNTIME_DIR"))
}

/// Returns the configuration file's place for the user of this process.
pub fn default_config() -> PathBuf {
    let xdg_config_home = variable("XDG_CONFIG_HOME");
    config_of(user(), xdg_config_home, variable("HOME"))
}

/// Returns the control socket's place for a user: root's is in `/run`, anyone else's in their
/// runtime folder, without one in a folder of their own in `/tmp` (which the daemon must make 0700
/// and check).
pub fn socket_of(uid: u32, xdg_runtime_dir: Option<PathBuf>) -> PathBuf {
    if uid == ROOT {
        return PathBuf::from("/run/sluice/control.sock");
    }
    match xdg_runtime_dir.filter(|folder| folder.is_absolute()) {
        Some(folder) => folder.join("sluice/control.sock"),
        None => private(uid).join("control.sock"),
    }
}

/// Returns the configuration file's place for a user; one without a home folder gets it beside the
/// socket.
pub fn config_of(uid: u32, xdg_config_home: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    if uid == ROOT {
        return PathBuf::from("/etc/sluice/ns.conf");
    }
    let own = xdg_config_home.filter(|folder| folder.is_absolute());
    let usual = home.filter(|folder| folder.is_absolute());
    match own.or_else(|| usual.map(|folder| folder.join(".config"))) {
        Some(folder) => folder.join("sluice/ns.conf"),
        None => private(uid).join("ns.conf"),
    }
}

fn private(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/sluice-{uid}"))
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// An empty variable counts as unset, as in the XDG base directory specification.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
}

const ROOT: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Option<PathBuf> {
        Some(PathBuf::from(text))
    }

    #[test]
    fn root_uses_the_system_folders_whatever_the_environment() {
        assert_eq!(
            socket_of(0, path("/run/user/0")),
            PathBuf::from("/run/sluice/control.sock")
        );
        assert_eq!(
            config_of(0, path("/x"), path("/root")),
            PathBuf::from("/etc/sluice/ns.conf")
        );
    }

    #[test]
    fn a_user_uses_the_runtime_folder_else_tmp() {
        assert_eq!(
            socket_of(1000, path("/run/user/1000")),
            PathBuf::from("/run/user/1000/sluice/control.sock")
        );
        let private = PathBuf::from("/tmp/sluice-1000/control.sock");
        assert_eq!(socket_of(1000, None), private);
        assert_eq!(socket_of(1000, path("relative")), private);
    }

    #[test]
    fn a_user_uses_the_configuration_folder_else_home_else_tmp() {
        let home = path("/home/ann");
        assert_eq!(
            config_of(7, path("/cfg"), home.clone()),
            PathBuf::from("/cfg/sluice/ns.conf")
        );
        let usual = PathBuf::from("/home/ann/.config/sluice/ns.conf");
        assert_eq!(config_of(7, None, home.clone()), usual);
        assert_eq!(config_of(7, path("relative"), home), usual);
        assert_eq!(
            config_of(7, None, None),
            PathBuf::from("/tmp/sluice-7/ns.conf")
        );
    }
}
