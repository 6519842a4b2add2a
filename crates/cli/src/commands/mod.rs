//! One file per command: its arguments, what it asks the host, and how the answer is shown.

pub(crate) mod chat;
pub(crate) mod init;
pub(crate) mod invite;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod signin;
pub(crate) mod status;
pub(crate) mod whoami;

pub(crate) mod moderation;
pub(crate) mod serve;
pub(crate) mod token;
pub(crate) mod turns;

pub(crate) mod channel;
pub(crate) mod member;
pub(crate) mod project;
pub(crate) mod role;
pub(crate) mod schedule;
pub(crate) mod stimuli;
pub(crate) mod task;
pub(crate) mod thread;
mod thread_work;

pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod go_on;
pub(crate) mod inbox;
pub(crate) mod pipeline;
pub(crate) mod post;
pub(crate) mod react;

pub(crate) mod feed;
pub(crate) mod mail;
pub(crate) mod owed;
pub(crate) mod search;
pub(crate) mod tail;
pub(crate) mod webhook;
pub(crate) mod why;
pub(crate) mod workspace;

pub(crate) mod agents;
pub(crate) mod approve;
pub(crate) mod asset;
pub(crate) mod claims;
pub(crate) mod dead_letters;
pub(crate) mod sessions;
pub(crate) mod wake;

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod health;
pub(crate) mod hosts;
pub(crate) mod import;
pub(crate) mod man;
pub(crate) mod restore;

pub(crate) mod account;
pub(crate) mod hire;
mod hire_check;
pub(crate) mod job;
pub(crate) mod registry;
pub(crate) mod skill;
pub(crate) mod transfer;

pub(crate) mod attach;
pub(crate) mod c2a;
pub(crate) mod connect;
pub(crate) mod hook;
pub(crate) mod join;
pub(crate) mod mcp;
pub(crate) mod run;
pub(crate) mod stop;

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_wire::rest::tokens::NewToken;

use crate::failure::Result;
use crate::host::Target;
use crate::lookup;
use crate::printer::Printer;

/// What every command is given: where the host is, and how to print.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) target: Target,
    pub(crate) print: Printer,
}

impl Context {
    /// The host; as a member other than the token's when `act_as` is given, which the operator may.
    pub(crate) async fn client_as(&self, act_as: Option<&str>) -> Result<Client> {
        let client = self.target.client()?;
        let Some(member) = act_as else { return Ok(client) };
        // Issuing a token makes the member when it is new; a slip of the pen should not.
        let member = lookup::known(&client, member).await?;
        let member = client.member(&member).await?;
        let new = NewToken {
            agent: member.id,
            role: Authority::Worker.into(),
            session: None,
            ttl_s: Some(TTL_S),
        };
        let token = client.issue_token(&new).await?;
        Ok(client.with_token(token.token))
    }
}

/// A token made for one command outlives it by little.
const TTL_S: u64 = 300;
