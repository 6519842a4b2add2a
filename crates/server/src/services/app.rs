//! The capabilities of a host, put together. Each is a struct with the few handles that it needs; none knows
//! [`App`].

use std::sync::Arc;

use arc_swap::Guard;
use chorus_core::model::ids::Timestamp;
use chorus_core::state::directory::Directory;

use super::approvals::ApprovalService;
use super::assets::AssetService;
use super::assets::reading::AssetReader;
use super::audit::AuditService;
use super::callbacks::CallbackService;
use super::channels::ChannelService;
use super::claims::ClaimService;
use super::commands::Commands;
use super::copies::CopyService;
use super::cursors::CursorService;
use super::deliveries::DeliveryService;
use super::digests::DigestService;
use super::dispositions::DispositionService;
use super::endpoints::EndpointService;
use super::explanations::ExplanationService;
use super::identity::Identity;
use super::inboxes::InboxService;
use super::log::EventLog;
use super::mail::MailService;
use super::members::MemberService;
use super::messages::MessageService;
use super::methods::ThreadMethods;
use super::names::Names;
use super::operator::Operator;
use super::pauses::PauseService;
use super::posts::PostService;
use super::projects::ProjectService;
use super::reactions::ReactionService;
use super::reads::Reads;
use super::retention::RetentionService;
use super::roles::RoleService;
use super::runs::RunService;
use super::schedules::ScheduleService;
use super::search::SearchService;
use super::sessions::SessionService;
use super::shared::Shared;
use super::short_ids::ShortIds;
use super::sign_ins::SignInService;
use super::stimuli::StimulusService;
use super::streams::StreamService;
use super::threads::ThreadService;
use super::tokens::TokenService;
use super::turns::TurnService;

/// One host: what it shares, and what can be done here.
pub(crate) struct App {
    pub(crate) shared: Shared,
    pub(crate) commands: Arc<Commands>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) reads: Arc<Reads>,
    pub(crate) names: Arc<Names>,
    pub(crate) approvals: Arc<ApprovalService>,
    pub(crate) assets: Arc<AssetService>,
    pub(crate) search: Arc<SearchService>,
    pub(crate) messages: Arc<MessageService>,
    pub(crate) asset_reads: Arc<AssetReader>,
    pub(crate) audit: Arc<AuditService>,
    pub(crate) threads: Arc<ThreadService>,
    pub(crate) dispositions: Arc<DispositionService>,
    pub(crate) posts: Arc<PostService>,
    pub(crate) callbacks: Arc<CallbackService>,
    pub(crate) retention: Arc<RetentionService>,
    pub(crate) channels: Arc<ChannelService>,
    pub(crate) deliveries: Arc<DeliveryService>,
    pub(crate) mail: Arc<MailService>,
    pub(crate) reactions: Arc<ReactionService>,
    pub(crate) runs: Arc<RunService>,
    pub(crate) claims: Arc<ClaimService>,
    pub(crate) copies: Arc<CopyService>,
    pub(crate) cursors: Arc<CursorService>,
    pub(crate) digests: Arc<DigestService>,
    pub(crate) tokens: Arc<TokenService>,
    pub(crate) members: Arc<MemberService>,
    pub(crate) endpoints: Arc<EndpointService>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) explanations: Arc<ExplanationService>,
    pub(crate) inboxes: Arc<InboxService>,
    pub(crate) operator: Arc<Operator>,
    pub(crate) short_ids: ShortIds,
    pub(crate) sign_ins: Arc<SignInService>,
    pub(crate) pauses: Arc<PauseService>,
    pub(crate) projects: Arc<ProjectService>,
    pub(crate) roles: Arc<RoleService>,
    pub(crate) schedules: Arc<ScheduleService>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) stimuli: Arc<StimulusService>,
    pub(crate) streams: Arc<StreamService>,
    pub(crate) methods: Arc<ThreadMethods>,
    pub(crate) turns: Arc<TurnService>,
}

impl App {
    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Who there is, as of now.
    pub(crate) fn directory(&self) -> Guard<Arc<Directory>> {
        self.shared.directory.load()
    }

    /// Whether the host can still write.
    pub(crate) fn ready(&self) -> Result<(), String> {
        if self.shared.drain.is_draining() {
            return Err("draining".to_owned());
        }
        let health = self.shared.writer.health();
        if health.ok { Ok(()) } else { Err(health.reason.unwrap_or_default()) }
    }
}
