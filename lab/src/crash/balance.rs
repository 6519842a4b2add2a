//! One address for several hosts, as a load balancer has: each connection goes to one of those that live.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Passes connections on for as long as the process lives.
pub(super) fn balance(addr: SocketAddr, hosts: Vec<SocketAddr>) -> Result<(), String> {
    let listener = TcpListener::bind(addr).map_err(|e| format!("{addr}: {e}"))?;
    let next = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let first = next.fetch_add(1, Ordering::Relaxed);
            let mut tried = (0..hosts.len()).map(|n| hosts[(first + n) % hosts.len()]);
            // With none of them there, the connection ends at once.
            if let Some(host) = tried.find_map(|host| TcpStream::connect(host).ok()) {
                pass(stream, host);
            }
        }
    });
    Ok(())
}

fn pass(one: TcpStream, other: TcpStream) {
    let _ = one.set_nodelay(true).and(other.set_nodelay(true));
    if let (Ok(one_in), Ok(other_in)) = (one.try_clone(), other.try_clone()) {
        std::thread::spawn(move || copy(one_in, other));
        std::thread::spawn(move || copy(other_in, one));
    }
}

/// What comes in goes out, until either ends; then both do.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut part = [0_u8; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut part) {
        if to.write_all(&part[..n]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
