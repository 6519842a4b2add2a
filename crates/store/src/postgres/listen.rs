//! Listens for notifications from other hosts, on a separate connection.
//!
//! Nothing depends on receiving a notification: it only says when to look. The other hosts are also
//! checked periodically, and after every reconnect.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls};

use super::address::Address;
use super::thread::handle;
use super::tls;
use crate::db::{Heard, Result};

/// How often the other hosts are checked without a notification.
const LOOK: Duration = Duration::from_secs(5);
/// Delay before a lost connection is made again.
const AGAIN: Duration = Duration::from_secs(1);
/// Pending notifications. One that does not fit adds nothing to those that are waiting.
const WORDS: usize = 64;

/// Stops listening when it is dropped.
pub(super) struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Listens for the hosts of this schema and ignores `own` notifications.
pub(super) fn start(
    address: Arc<Address>,
    schema: String,
    own: String,
    heard: Box<dyn Fn(Heard) + Send + Sync>,
) -> Result<Listening> {
    let task = handle()?.spawn(async move {
        let of_schema = format!("{schema} ");
        loop {
            if let Ok((client, mut words)) = connect(&address).await {
                heard(Heard::Pause);
                loop {
                    match tokio::time::timeout(LOOK, words.recv()).await {
                        Ok(Some(word)) if word.starts_with(&of_schema) && word != own => {
                            heard(Heard::News);
                        }
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => heard(Heard::Pause),
                    }
                }
                drop(client);
            }
            tokio::time::sleep(AGAIN).await;
            heard(Heard::Pause);
        }
    });
    Ok(Listening(task.abort_handle()))
}

async fn connect(
    address: &Address,
) -> std::result::Result<(Client, mpsc::Receiver<String>), Box<dyn std::error::Error + Send + Sync>>
{
    let mut config = address.config.clone();
    config.application_name("chorus listener");
    let (words, heard) = mpsc::channel(WORDS);
    let client = match config.get_ssl_mode() {
        SslMode::Disable => {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(forward(connection, words));
            client
        }
        _ => {
            let tls = tls::connector(&address.tls).map_err(|why| why.to_string())?;
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(forward(connection, words));
            client
        }
    };
    client.batch_execute("LISTEN chorus").await?;
    Ok((client, heard))
}

/// Drives a connection until it ends, and forwards its notifications.
async fn forward<S, T>(mut connection: Connection<S, T>, words: mpsc::Sender<String>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let AsyncMessage::Notification(word) = message {
            let _ = words.try_send(word.payload().to_owned());
        }
    }
}
