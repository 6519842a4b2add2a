//! `/transfer`, `/accounts`, `/spending` and `/audit`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::registry::{
    Account, Accounts, LedgerPage, Mint, PageQuery, SpendingLimit, Statement, Transfer, Transferred,
};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("registry", include_str!("ledger.json"))
        .name("owner", "The owner of an account; `me` is your own.", "alice")
        .name("member", "The member's id.", "scout")
        .post(
            "/transfer",
            transfer,
            Doc::new("transfer", "Moves credits from your owner to another.", NO_TOOL).refuses(&[
                Code::ClaimMismatch,
                Code::Conflict,
                Code::Forbidden,
                Code::NotFound,
                Code::TransferFailed,
            ]),
        )
        .get(
            "/accounts",
            accounts,
            Doc::new("list_accounts", "Lists the accounts that you may see.", NO_TOOL),
        )
        .get(
            "/accounts/{owner}",
            account,
            Doc::new("get_account", "Shows an account.", NO_TOOL).refuses(&[Code::NotFound]),
        )
        .get(
            "/accounts/{owner}/statement",
            statement,
            Doc::new("get_statement", "The entries of an account, newest first.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/accounts/{owner}/mint",
            mint,
            Doc::new("mint_credits", "Brings credits into being.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority]),
        )
        .get(
            "/spending/{member}",
            spending,
            Doc::new("get_spending", "What a member may spend.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .put(
            "/spending/{member}",
            limit,
            Doc::new("limit_spending", "Limits what a member may spend.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/audit",
            audit,
            Doc::new("get_ledger", "The whole ledger, from its beginning.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority]),
        )
}

async fn transfer(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(asked): Json<Transfer>,
) -> Result<Created<Transferred>, Refused> {
    Ok(Created(app.ledger.transfer(&caller, asked).await?))
}

async fn accounts(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<PageQuery>,
) -> Reply<Accounts> {
    Ok(Json(app.ledger.accounts(&caller, query).await?))
}

async fn account(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(owner): Path<String>,
) -> Reply<Account> {
    Ok(Json(app.ledger.account(&caller, &owner).await?))
}

async fn statement(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(owner): Path<String>,
    Query(query): Query<PageQuery>,
) -> Reply<Statement> {
    Ok(Json(app.ledger.statement(&caller, &owner, query).await?))
}

async fn mint(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(owner): Path<String>,
    Json(asked): Json<Mint>,
) -> Result<Created<Account>, Refused> {
    Ok(Created(app.ledger.mint(&caller, &owner, asked).await?))
}

async fn spending(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
) -> Reply<SpendingLimit> {
    Ok(Json(app.ledger.spending_limit(&caller, &member).await?))
}

async fn limit(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
    Json(asked): Json<SpendingLimit>,
) -> Reply<SpendingLimit> {
    Ok(Json(app.ledger.limit_spending(&caller, &member, asked).await?))
}

async fn audit(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<PageQuery>,
) -> Reply<LedgerPage> {
    Ok(Json(app.ledger.ledger(&caller, query).await?))
}
