//! Where the product's binaries are, built if need be.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of `sluiced`, `sluice` or `sluice-bench`, of the same profile as the caller.
///
/// # Panics
/// When the binaries cannot be built.
pub fn binary(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(build).join(name)
}

/// Builds the binaries beside the running executable; a no-op when they are fresh. The
/// demonstration, which is not run by cargo, takes what stands beside it.
fn build() -> PathBuf {
    let own = std::env::current_exe().expect("the system knows the running executable");
    let folder = own.parent().expect("an executable lies in a folder");
    if !folder.ends_with("deps") {
        return folder.to_owned();
    }
    let folder = folder.parent().expect("deps lies in the profile's folder");
    let target = folder
        .parent()
        .expect("a profile's folder lies in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(workspace())
        .args(["build", "--quiet", "--locked"]);
    for package in ["sluiced", "sluice", "sluice-bench"] {
        cargo.args(["-p", package]);
    }
    cargo.arg("--target-dir").arg(target);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "building the binaries failed");
    folder.to_owned()
}

/// Returns the folder of the workspace's `Cargo.toml`.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies in the workspace")
}
