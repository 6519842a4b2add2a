//! `chorus account`: what owners have, what moved, and what members may spend.

use chorus_core::model::error::Code;
use chorus_wire::registry::{
    Account, Accounts, Amount, LedgerEntry, Mint, SpendingLimit, Statement,
};
use clap::Subcommand;

use super::Context;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::pages::{Page, with_next};
use crate::print::{date, line, table};
use crate::values::credits;

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Whose account [default: that of your own owner]
    #[arg(value_name = "OWNER")]
    owner: Option<String>,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The accounts that you may see
    #[command(visible_alias = "ls")]
    List {
        #[command(flatten)]
        page: Page,
    },
    /// What moved on an account, the newest first
    Statement {
        /// Whose account [default: that of your own owner]
        #[arg(value_name = "OWNER")]
        owner: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Bring credits into being; for operators
    Mint {
        /// The owner who gets them
        #[arg(value_name = "OWNER")]
        owner: String,
        /// How many credits, such as 5 or 0.50
        #[arg(value_name = "AMOUNT", value_parser = credits)]
        amount: Amount,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        memo: Option<String>,
        /// A UUID; the same again mints nothing more
        #[arg(long, value_name = "UUID")]
        id: Option<String>,
    },
    /// What a member may spend; shown, or changed by operators
    Limit {
        /// The member, by id
        #[arg(value_name = "MEMBER")]
        member: String,
        /// What one job may cost; what is not given stays
        #[arg(long, value_name = "CREDITS", value_parser = credits)]
        per_job: Option<Amount>,
        /// What a day in UTC may cost; what is not given stays
        #[arg(long, value_name = "CREDITS", value_parser = credits)]
        per_day: Option<Amount>,
        /// Take both limits away
        #[arg(long, conflicts_with_all = ["per_job", "per_day"])]
        none: bool,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args.what {
        None => {
            let asked = args.owner.as_deref().map_or("me", owner);
            let found = client.account(asked).await.map_err(|e| no_account(e.into()))?;
            context.print.show(&found, one)
        }
        Some(What::List { page }) => {
            context.print.show(&client.accounts(&page.query()).await?, list)
        }
        Some(What::Statement { owner: of, page }) => {
            let asked = of.as_deref().map_or("me", owner);
            let found = client.statement(asked, &page.query()).await;
            context.print.show(&found.map_err(|e| no_account(e.into()))?, statement)
        }
        Some(What::Mint { owner: to, amount, memo, id }) => {
            let asked = Mint { transfer_id: id, amount, memo };
            context.print.show(&client.mint(owner(&to), &asked).await?, one)
        }
        Some(What::Limit { member, per_job, per_day, none }) => {
            let member = lookup::member(&member);
            let now = client.spending_limit(member).await?;
            let asked = match none {
                true => SpendingLimit::default(),
                false => SpendingLimit {
                    per_job: per_job.or(now.per_job),
                    per_day: per_day.or(now.per_day),
                },
            };
            let shown = match none || per_job.is_some() || per_day.is_some() {
                true => client.limit_spending(member, &asked).await?,
                false => now,
            };
            context.print.show(&shown, |limit| spending(member, limit))
        }
    }
}

/// An owner as people write it, with or without `@`; the host's own accounts have one.
pub(super) fn owner(name: &str) -> &str {
    match name {
        "@mint" | "@escrow" => name,
        name => lookup::member(name),
    }
}

/// An entry of the ledger as a row; with a sign, where it is one of this owner's statement.
pub(super) fn row(entry: &LedgerEntry, owner: Option<&str>) -> Vec<String> {
    let sign = match owner {
        None => "",
        Some(owner) if owner == entry.to_owner => "+",
        Some(_) => "-",
    };
    let mut what = format!("{} to {}", line(&entry.from_owner), line(&entry.to_owner));
    if let Some(memo) = &entry.memo {
        what.push_str(&format!(": {}", line(memo)));
    }
    if let Some(job) = &entry.job_id {
        what.push_str(&format!(", job {}", line(job)));
    }
    let (number, amount) = (entry.entry.to_string(), format!("{sign}{}", entry.amount.0));
    vec![number, date(entry.at.0), line(&entry.kind), amount, what]
}

/// The head of a table of entries.
pub(super) const ENTRIES: [&str; 5] = ["ENTRY", "AT", "KIND", "AMOUNT", "WHAT"];

fn no_account(failure: Failure) -> Failure {
    failure.next_if(&[Code::NotFound], || {
        "an account opens when its owner gets credits or registers an agent".to_owned()
    })
}

fn one(account: &Account) -> String {
    format!("{} has {} credits", line(&account.owner_id), account.balance.0)
}

fn list(all: &Accounts) -> String {
    let row = |a: &Account| vec![line(&a.owner_id), a.balance.0.to_string(), date(a.opened_at.0)];
    let rows: Vec<_> = all.accounts.iter().map(row).collect();
    let none = "no accounts yet; open one with: chorus account mint OWNER AMOUNT";
    with_next(table(none, &["OWNER", "BALANCE", "OPENED"], &rows), all.next.as_ref())
}

fn statement(of: &Statement) -> String {
    let rows: Vec<_> = of.entries.iter().map(|entry| row(entry, Some(&of.owner_id))).collect();
    let text = format!("{} has {} credits\n", line(&of.owner_id), of.balance.0);
    with_next(text + &table("nothing moved yet", &ENTRIES, &rows), of.next.as_ref())
}

fn spending(member: &str, limit: &SpendingLimit) -> String {
    let shown = |amount: Option<Amount>, span: &str| match amount {
        Some(amount) => format!("{} a {span}", amount.0),
        None => format!("any amount a {span}"),
    };
    let (job, day) = (shown(limit.per_job, "job"), shown(limit.per_day, "day"));
    format!("{} may spend {job}, {day}", line(member))
}
