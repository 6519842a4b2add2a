//! Whether a socket is ours to speak to.
//!
//! Invariant: a prompt, and the token before it, go only to a socket that this user made, in a folder where nobody else
//! could have put another in its place. Codex's control socket is always a link into `/tmp/codex-daemon-UID`: so links
//! are followed once, and what they lead to is what must be ours.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::outcome::{Reason, Why};

/// The socket itself, or why it is not used.
pub(super) fn socket(path: &Path) -> Result<PathBuf, Why> {
    let user = nix::unistd::geteuid().as_raw();
    let absent = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Why::from(Reason::NoSocket),
        _ => Why::new(Reason::NoSocket, format_args!("{}: {e}", path.display())),
    };
    // Whoever makes the link says what we speak to.
    let link = fs::symlink_metadata(path).map_err(absent)?;
    if link.uid() != user {
        return Err(Why::new(
            Reason::NotOurs,
            format_args!("{} is another user's", path.display()),
        ));
    }
    let real = fs::canonicalize(path).map_err(absent)?;
    let data = fs::symlink_metadata(&real).map_err(absent)?;
    let not_ours =
        |what: &str| Why::new(Reason::NotOurs, format_args!("{} {what}", real.display()));
    if !data.file_type().is_socket() {
        return Err(not_ours("is not a socket"));
    }
    if data.uid() != user {
        return Err(not_ours("is another user's"));
    }
    let folder = real.parent().map(fs::metadata).transpose().map_err(absent)?;
    let private = folder.is_some_and(|folder| folder.uid() == user && folder.mode() & 0o022 == 0);
    if !private {
        return Err(not_ours("is in a folder that others can write to"));
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn reason(path: &Path) -> Reason {
        socket(path).unwrap_err().reason
    }

    #[test]
    fn only_a_socket_of_ours_in_a_folder_of_ours_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(reason(&at("missing")), Reason::NoSocket);
        fs::write(at("file"), "").unwrap();
        assert_eq!(reason(&at("file")), Reason::NotOurs);

        let _listener = UnixListener::bind(at("real")).unwrap();
        symlink(at("real"), at("link")).unwrap();
        let real = fs::canonicalize(at("real")).unwrap();
        assert_eq!(socket(&at("real")).unwrap(), real);
        assert_eq!(socket(&at("link")).unwrap(), real);
        symlink("/dev/null", at("elsewhere")).unwrap();
        assert_eq!(reason(&at("elsewhere")), Reason::NotOurs);

        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(reason(&at("real")), Reason::NotOurs);
    }
}
