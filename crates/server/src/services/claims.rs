//! Claims: the right to decide about an event, taken and given back (C2A "Claims").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::deliveries::{self, Claimed, Release};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Prefix;
use chorus_core::model::offer::Offer;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::tools;
use chorus_wire::rest::claims::{Claim, Claims};
use serde_json::value::RawValue;

use super::clock::HostClock;
use super::commands::Commands;
use super::deliveries::DeliveryService;
use super::identity::Identity;
use super::ids;
use super::runs::RunService;
use crate::auth::{Auth, Caller};
use crate::dispatch::frames::{self, Granted};
use crate::view;

/// Claims shown at once; more are open only when something is wrong.
const SHOWN: usize = 1_000;

/// Claims on messages.
pub(crate) struct ClaimService {
    pub(super) commands: Arc<Commands>,
    pub(super) identity: Arc<Identity>,
    pub(super) deliveries: Arc<DeliveryService>,
    pub(super) runs: Arc<RunService>,
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) workspace_id: Arc<str>,
}

impl ClaimService {
    /// `POST /v1/claims`.
    pub(crate) async fn claim(&self, caller: &Caller, event: &str) -> Result<Claim, Refusal> {
        caller.must_not_be_a_turn()?;
        let (claim, offer) = self.take_claim(caller, event).await?;
        let entry = &offer.entry;
        let directory = self.directory.load();
        let mut shown =
            view::deliveries::claim(&directory, entry.event.uid, entry.conversation.uid, &claim);
        let granted = Granted::to(caller, &self.auth, self.clock.now());
        shown.turn_token = Some(frames::grant(&offer, granted).token.into_owned());
        Ok(shown)
    }

    /// `chat.claim`.
    pub(crate) async fn claim_tool(
        &self,
        caller: &Caller,
        args: tools::Claim,
    ) -> Result<tools::ClaimResult, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        if args.release {
            self.release(&caller, &args.event_id).await?;
            let event_id = ids::event(&args.event_id)?.show(Prefix::Event);
            return Ok(tools::ClaimResult::Released(tools::Released { event_id, released: true }));
        }
        let (claim, offer) = self.take_claim(&caller, &args.event_id).await?;
        let channel = self.runs.channel_delivery(&caller, &offer).await;
        let (directory, now) = (self.directory.load(), self.clock.now());
        let shared = frames::shared(&offer.entry, &directory, &self.workspace_id);
        let granted = Granted::to(&caller, &self.auth, now);
        let params = frames::params(&shared, &offer, channel.as_ref(), &directory, granted);
        let event = RawValue::from_string(params)
            .map_err(|e| Refusal::new(Code::Internal, format!("an event is no JSON: {e}")))?;
        Ok(tools::ClaimResult::Claimed(Box::new(tools::Claimed {
            event_id: offer.entry.event.uid.show(Prefix::Event),
            holder: view::id(&directory, claim.holder),
            fence: claim.fence,
            expires_at: claim.expires.into(),
            turn: frames::grant(&offer, granted),
            event,
        })))
    }

    /// Gives a claim back: the next candidate is asked.
    pub(crate) async fn release(&self, caller: &Caller, event: &str) -> Result<(), Refusal> {
        let event = ids::event(event)?;
        self.commands.submit(caller.by, Release { event }).await.map(drop)
    }

    /// The claims that are held now, where the caller may see them.
    pub(crate) async fn claims(&self, caller: &Caller) -> Result<Claims, Refusal> {
        caller.must_not_be_a_turn()?;
        let open = self.deliveries.waiting(caller, caller.sees_all().then_some(None)).await?;
        let (directory, now) = (self.directory.load(), self.clock.now());
        let held = open.iter().filter_map(|(conversation, open)| {
            let claim = open.claim.filter(|c| c.is_live(now))?;
            Some(view::deliveries::claim(&directory, open.uid, conversation.uid, &claim))
        });
        Ok(Claims { claims: held.take(SHOWN).collect() })
    }

    async fn take_claim(
        &self,
        caller: &Caller,
        event: &str,
    ) -> Result<(chorus_core::model::claim::Claim, Offer), Refusal> {
        let event = ids::event(event)?;
        let Claimed { claim, delivery, .. } =
            self.commands.submit(caller.by, deliveries::Claim { event }).await?;
        Ok((claim, delivery))
    }
}
