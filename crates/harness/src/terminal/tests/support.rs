//! Small programs in real PTYs.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::super::{Launch, Size, Terminal, TerminalHandle, spawn};

pub(super) fn shell(script: &str) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        arguments: vec![OsString::from("-c"), OsString::from(script)],
        environment: Vec::new(),
        folder: PathBuf::from("/"),
    }
}

pub(super) fn started(script: &str) -> (Terminal, TerminalHandle) {
    let terminal = spawn(&shell(script), Size::DEFAULT).unwrap();
    let handle = terminal.handle();
    (terminal, handle)
}

/// Waits until the screen has this text.
pub(super) async fn shows(handle: &TerminalHandle, text: &str) {
    let (_, mut output) = handle.watch();
    let seen = timeout(Duration::from_secs(20), async {
        while !handle.screen().contains(text) {
            tokio::select! {
                _ = output.recv() => {}
                exit = handle.exited(), if handle.is_alive() => {
                    assert!(handle.screen().contains(text), "{exit:?}: {}", handle.screen());
                }
            }
        }
    });
    assert!(seen.await.is_ok(), "{text:?} is not on the screen:\n{}", handle.screen());
}

/// A path for a socket in a private folder.
pub(super) fn socket() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = folder.path().join("terminal");
    (folder, path)
}
