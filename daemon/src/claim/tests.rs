//! What a start finds at the socket's path, and what it must leave alone.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::sync::Barrier;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_socket_is_there_with_mode_0600_and_gone_afterwards() {
    let folder = folder();
    let path = folder.path().join("s");
    let claim = Claim::take(&path, false).unwrap();
    let found = fs::symlink_metadata(&path).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.mode() & 0o7777, 0o600);
    UnixStream::connect(&path).unwrap();
    drop(claim);
    assert!(!path.exists());
}

#[test]
fn a_live_socket_is_refused_and_goes_on() {
    let folder = folder();
    let path = folder.path().join("s");
    let claim = Claim::take(&path, false).unwrap();
    assert!(matches!(
        Claim::take(&path, false),
        Err(ClaimError::Live { .. })
    ));
    UnixStream::connect(&path).unwrap();
    drop(claim);
}

#[test]
fn a_live_socket_of_another_program_without_a_lock_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    let other = UnixListener::bind(&path).unwrap();
    assert!(matches!(
        Claim::take(&path, false),
        Err(ClaimError::Live { .. })
    ));
    UnixStream::connect(&path).unwrap();
    drop(other);
}

#[test]
fn a_dead_socket_is_replaced() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    let _claim = Claim::take(&path, false).unwrap();
    UnixStream::connect(&path).unwrap();
}

#[test]
fn files_links_and_folders_are_refused_and_untouched() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "precious").unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    let directory = folder.path().join("directory");
    fs::create_dir(&directory).unwrap();

    for (path, expected) in [
        (&file, "regular file"),
        (&link, "symbolic link"),
        (&directory, "folder"),
    ] {
        match Claim::take(path, false) {
            Err(ClaimError::Foreign { kind, .. }) => assert_eq!(kind, expected),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(fs::read_link(&link).unwrap(), file);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "no lock file was made"
    );
}

#[test]
fn a_link_to_a_dead_socket_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(matches!(
        Claim::take(&link, false),
        Err(ClaimError::Foreign { .. })
    ));
    assert!(path.exists());
}

#[test]
fn a_link_in_place_of_the_lock_file_is_not_followed() {
    let folder = folder();
    let path = folder.path().join("s");
    let elsewhere = folder.path().join("elsewhere");
    symlink(&elsewhere, folder.path().join("s.lock")).unwrap();
    assert!(matches!(
        Claim::take(&path, false),
        Err(ClaimError::System { .. })
    ));
    assert!(!elsewhere.exists());
}

#[test]
fn of_ten_claims_at_one_moment_exactly_one_wins_and_is_reachable() {
    for round in 0..20 {
        let folder = folder();
        let path = folder.path().join("s");
        if round % 2 == 0 {
            drop(UnixListener::bind(&path).unwrap());
        }
        let start = Barrier::new(10);
        let claims: Vec<_> = std::thread::scope(|scope| {
            let claimers: Vec<_> = (0..10)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        Claim::take(&path, false)
                    })
                })
                .collect();
            claimers
                .into_iter()
                .map(|claimer| claimer.join().unwrap())
                .collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = claims.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        assert!(
            lost.iter()
                .all(|lost| matches!(lost, Err(ClaimError::Live { .. }))),
            "{lost:?}"
        );
        UnixStream::connect(&path).unwrap();
    }
}

#[test]
fn a_socket_that_somebody_put_there_later_is_not_removed() {
    let folder = folder();
    let path = folder.path().join("s");
    let claim = Claim::take(&path, false).unwrap();
    // Renamed, not removed: a free inode number could be given to the next file.
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(&path, "theirs").unwrap();
    drop(claim);
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
}

#[test]
fn the_folder_of_a_default_path_is_made_private() {
    let folder = folder();
    let own = folder.path().join("own");
    let _claim = Claim::take(&own.join("s"), true).unwrap();
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o7777, 0o700);
}

#[test]
fn a_folder_that_others_can_write_or_that_is_a_link_is_refused() {
    let folder = folder();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Claim::take(&open.join("s"), true).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "the folder {} has mode 0777, which lets others in; `chmod 700` it",
            open.display()
        )
    );

    let real = folder.path().join("real");
    DirBuilder::new().mode(0o700).create(&real).unwrap();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    let refused = Claim::take(&link.join("s"), true);
    assert!(
        matches!(refused, Err(ClaimError::Folder { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
}

#[test]
fn a_path_too_long_for_a_socket_is_an_error() {
    let folder = folder();
    let path = folder.path().join("x".repeat(120));
    assert!(matches!(
        Claim::take(&path, false),
        Err(ClaimError::System { .. })
    ));
}
