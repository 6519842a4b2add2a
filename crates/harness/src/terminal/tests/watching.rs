//! Viewers over the socket: what they see, who answers, and whom they may not hold up.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::net::UnixStream;
use tokio::time::timeout;

use super::super::frames::{Frame, read_frame, write_frame};
use super::super::screen::Model;
use super::super::{Exit, Size, serve};
use super::support::{shows, socket, started};

struct Viewer {
    stream: UnixStream,
    screen: Model,
    /// What it was sent, as it is.
    bytes: Vec<u8>,
    exit: Option<Exit>,
}

impl Viewer {
    async fn connect(path: &PathBuf) -> Self {
        let stream = UnixStream::connect(path).await.unwrap();
        let screen = Model::new(Size::DEFAULT, Instant::now());
        Self { stream, screen, bytes: Vec::new(), exit: None }
    }

    async fn send(&mut self, frame: Frame) {
        write_frame(&mut self.stream, &frame).await.unwrap();
    }

    async fn next(&mut self) -> bool {
        let frame = timeout(Duration::from_secs(20), read_frame(&mut self.stream));
        match frame.await.expect("a frame").unwrap() {
            Some(Frame::Output(bytes)) => {
                self.screen.print(&bytes);
                self.bytes.extend(bytes);
            }
            Some(Frame::Exit(exit)) => self.exit = Some(exit),
            Some(_) => {}
            None => return false,
        }
        true
    }

    async fn shows(&mut self, text: &str) {
        while !self.screen.text().contains(text) {
            assert!(self.next().await, "{text:?} was not shown:\n{}", self.screen.text());
        }
    }

    async fn ends(&mut self) -> Option<Exit> {
        while self.next().await {}
        self.exit
    }
}

#[tokio::test]
async fn a_viewer_sees_the_screen_at_once_then_follows_and_is_told_the_exit() {
    let (_folder, path) = socket();
    let (_terminal, handle) =
        started("printf '\\033[?2004hbefore\\n'; read line; echo got:$line; exit 5");
    shows(&handle, "before").await;
    let served = serve(handle.clone(), &path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut viewer = Viewer::connect(&path).await;
    let mut other = Viewer::connect(&path).await;
    viewer.shows("before").await;
    other.shows("before").await;
    assert!(String::from_utf8_lossy(&viewer.bytes).contains("\x1b[?2004h"));
    viewer.send(Frame::Input(b"word\r".to_vec())).await;
    viewer.shows("got:word").await;
    other.shows("got:word").await;
    assert_eq!(viewer.ends().await, Some(Exit { code: 5 }));
    assert_eq!(other.ends().await, Some(Exit { code: 5 }));
    assert!(handle.keys_quiet_for().is_some(), "a viewer's keys are a person's");
    served.await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_viewer_brings_its_size() {
    let (_folder, path) = socket();
    let script = "trap 'stty size' WINCH; echo ready; while :; do read line; done";
    let (_terminal, handle) = started(script);
    shows(&handle, "ready").await;
    let _served = serve(handle.clone(), &path).unwrap();
    let mut viewer = Viewer::connect(&path).await;
    viewer.send(Frame::Size(Size { rows: 33, columns: 99 })).await;
    viewer.shows("33 99").await;
}

#[tokio::test]
async fn only_the_oldest_viewer_answers_for_the_terminal() {
    let (_folder, path) = socket();
    let (_terminal, handle) = started("stty raw -echo; printf ready; exec cat -v");
    shows(&handle, "ready").await;
    let _served = serve(handle.clone(), &path).unwrap();
    let mut first = Viewer::connect(&path).await;
    first.shows("ready").await;
    let mut second = Viewer::connect(&path).await;
    second.shows("ready").await;
    second.send(Frame::Input(b"\x1b[2;2R".to_vec())).await;
    second.send(Frame::Input(b"k".to_vec())).await;
    first.shows("k").await;
    first.send(Frame::Input(b"\x1b[1;1R".to_vec())).await;
    first.shows("k^[[1;1R").await;
    assert!(!handle.screen().contains("2;2R"), "{}", handle.screen());
    drop(first);
    // The next one takes its place, as soon as the first is seen to be gone.
    while !handle.screen().contains("3;3R") {
        second.send(Frame::Input(b"\x1b[3;3R".to_vec())).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_viewer_that_reads_nothing_holds_nobody_up_and_is_redrawn() {
    let (_folder, path) = socket();
    let script = "read line; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo done; read line";
    let (_terminal, handle) = started(script);
    let _served = serve(handle.clone(), &path).unwrap();
    let mut slow = Viewer::connect(&path).await;
    assert!(slow.next().await);
    handle.person_input(b"\r".to_vec()).await.unwrap();
    shows(&handle, "done").await;
    slow.shows("done").await;
    assert!(slow.bytes.len() < 15_000_000, "{} bytes were kept for it", slow.bytes.len());
}

#[tokio::test]
async fn a_socket_is_neither_taken_from_another_nor_put_where_others_reach_it() {
    let (folder, path) = socket();
    let (_terminal, handle) = started("read line");
    let served = serve(handle.clone(), &path).unwrap();
    assert!(serve(handle.clone(), &path).is_err(), "another one listens");
    served.abort();
    let _ = served.await;
    // One that was left behind is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    serve(handle.clone(), &path).unwrap().abort();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o750)).unwrap();
    let error = serve(handle, &folder.path().join("open")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
}
