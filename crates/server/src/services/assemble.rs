//! How the capabilities of a host are put together: each after those that it uses.

use std::sync::Arc;

use super::App;
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
use crate::auth::SignInLinks;

impl App {
    /// Puts the capabilities together, each over those above it.
    pub(crate) fn new(shared: Shared) -> Self {
        let commands = Arc::new(Commands {
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            limits: shared.limits.clone(),
            metrics: shared.metrics.clone(),
            quotas: shared.quotas.clone(),
            readers: shared.readers.clone(),
            redactor: shared.redactor.clone(),
            traces: shared.traces.clone(),
            webhooks: shared.webhooks.clone(),
            writer: shared.writer.clone(),
        });
        let identity = Arc::new(Identity {
            commands: commands.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            workspace_id: shared.workspace_id.clone(),
            workspace_name: shared.workspace_name.clone(),
            writer: shared.writer.clone(),
        });
        let reads = Arc::new(Reads {
            channel_count: shared.channel_count.clone(),
            clock: shared.clock.clone(),
            kinds: Default::default(),
            readers: shared.readers.clone(),
        });
        let approvals = Arc::new(ApprovalService {
            commands: commands.clone(),
            identity: identity.clone(),
            reads: reads.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            sensitive: shared.sensitive.clone(),
        });
        let assets = Arc::new(AssetService {
            commands: commands.clone(),
            reads: reads.clone(),
            body_time: shared.body_time,
            clock: shared.clock.clone(),
            data: shared.data.clone(),
            quotas: shared.quotas.clone(),
            thumbnails: Default::default(),
            uploads: Default::default(),
        });
        let search = Arc::new(SearchService {
            reads: reads.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            searching: shared.searching.clone(),
        });
        let messages = Arc::new(MessageService {
            assets: assets.clone(),
            commands: commands.clone(),
            reads: reads.clone(),
            search: search.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            gone: shared.gone.clone(),
            readers: shared.readers.clone(),
            tails: Default::default(),
            writer: shared.writer.clone(),
        });
        let asset_reads = Arc::new(AssetReader {
            assets: assets.clone(),
            identity: identity.clone(),
            messages: messages.clone(),
            reads: reads.clone(),
            public_url: shared.public_url.clone(),
        });
        let audit = Arc::new(AuditService {
            commands: commands.clone(),
            reads: reads.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            workspace_id: shared.workspace_id.clone(),
        });
        let threads = Arc::new(ThreadService {
            commands: commands.clone(),
            reads: reads.clone(),
            budgets: shared.budgets,
            directory: shared.directory.clone(),
        });
        let dispositions = Arc::new(DispositionService {
            commands: commands.clone(),
            identity: identity.clone(),
            reads: reads.clone(),
            threads: threads.clone(),
            clock: shared.clock.clone(),
            connections: shared.connections.clone(),
            feed: shared.feed.clone(),
            redactor: shared.redactor.clone(),
            replies: shared.replies.clone(),
            typing: shared.typing.clone(),
        });
        let names = Arc::new(Names { reads: reads.clone(), directory: shared.directory.clone() });
        let posts = Arc::new(PostService {
            assets: assets.clone(),
            commands: commands.clone(),
            identity: identity.clone(),
            names: names.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
            metrics: shared.metrics.clone(),
            typing: shared.typing.clone(),
        });
        let callbacks = Arc::new(CallbackService {
            commands: commands.clone(),
            dispositions: dispositions.clone(),
            posts: posts.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            feed: shared.feed.clone(),
            public_url: shared.public_url.clone(),
            redactor: shared.redactor.clone(),
            replies: shared.replies.clone(),
            webhooks: shared.webhooks.clone(),
        });
        let retention = Arc::new(RetentionService {
            commands: commands.clone(),
            reads: reads.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            drain: shared.drain.clone(),
            metrics: shared.metrics.clone(),
            rules: shared.rules.clone(),
            searching: shared.searching.clone(),
            writer: shared.writer.clone(),
        });
        let channels = Arc::new(ChannelService {
            commands: commands.clone(),
            reads: reads.clone(),
            retention: retention.clone(),
            budgets: shared.budgets,
            directory: shared.directory.clone(),
        });
        let deliveries = Arc::new(DeliveryService {
            commands: commands.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
        });
        let mail = Arc::new(MailService {
            commands: commands.clone(),
            deliveries: deliveries.clone(),
            messages: messages.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
        });
        let reactions =
            Arc::new(ReactionService { commands: commands.clone(), identity: identity.clone() });
        let runs = Arc::new(RunService {
            assets: assets.clone(),
            commands: commands.clone(),
            identity: identity.clone(),
            mail: mail.clone(),
            messages: messages.clone(),
            reactions: reactions.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
        });
        let claims = Arc::new(ClaimService {
            commands: commands.clone(),
            deliveries: deliveries.clone(),
            identity: identity.clone(),
            runs: runs.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            workspace_id: shared.workspace_id.clone(),
        });
        let copies = Arc::new(CopyService {
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            copying: Default::default(),
            data: shared.data.clone(),
            place: shared.place.clone(),
            writer: shared.writer.clone(),
        });
        let cursors = Arc::new(CursorService { commands: commands.clone(), reads: reads.clone() });
        let digests = Arc::new(DigestService {
            commands: commands.clone(),
            reads: reads.clone(),
            connections: shared.connections.clone(),
            directory: shared.directory.clone(),
        });
        let tokens = Arc::new(TokenService {
            audit: audit.clone(),
            commands: commands.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            connections: shared.connections.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            feed: shared.feed.clone(),
            rotating: Default::default(),
            writer: shared.writer.clone(),
        });
        let members = Arc::new(MemberService {
            audit: audit.clone(),
            commands: commands.clone(),
            deliveries: deliveries.clone(),
            tokens: tokens.clone(),
            directory: shared.directory.clone(),
            webhooks: shared.webhooks.clone(),
            workspace_id: shared.workspace_id.clone(),
        });
        let endpoints = Arc::new(EndpointService {
            callbacks: callbacks.clone(),
            audit: audit.clone(),
            channels: channels.clone(),
            commands: commands.clone(),
            members: members.clone(),
            reads: reads.clone(),
            tokens: tokens.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            webhooks: shared.webhooks.clone(),
        });
        let log = Arc::new(EventLog {
            gone: shared.gone.clone(),
            identity: identity.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
            feed: shared.feed.clone(),
        });
        let explanations = Arc::new(ExplanationService {
            commands: commands.clone(),
            reads: reads.clone(),
            budgets: shared.budgets,
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            flow: shared.flow,
            readers: shared.readers.clone(),
        });
        let inboxes = Arc::new(InboxService {
            assets: assets.clone(),
            commands: commands.clone(),
            reads: reads.clone(),
            auth: shared.auth.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            limits: shared.limits.clone(),
            metrics: shared.metrics.clone(),
            public_url: shared.public_url.clone(),
            webhooks: shared.webhooks.clone(),
            writer: shared.writer.clone(),
        });
        let operator = Arc::new(Operator {
            clock: shared.clock.clone(),
            commands: commands.clone(),
            directory: shared.directory.clone(),
            identity: identity.clone(),
            tokens: tokens.clone(),
        });
        let short_ids = ShortIds { messages: messages.clone(), threads: threads.clone() };
        let sign_ins = Arc::new(SignInService {
            audit: audit.clone(),
            channels: channels.clone(),
            clock: shared.clock.clone(),
            commands: commands.clone(),
            directory: shared.directory.clone(),
            id_generator: shared.id_generator.clone(),
            identity: identity.clone(),
            links: SignInLinks::default(),
            accepting: Default::default(),
            public_url: shared.public_url.clone(),
            reads: reads.clone(),
            tokens: tokens.clone(),
        });
        let pauses = Arc::new(PauseService {
            commands: commands.clone(),
            reads: reads.clone(),
            budgets: shared.budgets,
            directory: shared.directory.clone(),
        });
        let projects = Arc::new(ProjectService {
            audit: audit.clone(),
            commands: commands.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
            writer: shared.writer.clone(),
        });
        let roles = Arc::new(RoleService {
            audit: audit.clone(),
            commands: commands.clone(),
            directory: shared.directory.clone(),
        });
        let schedules = Arc::new(ScheduleService {
            commands: commands.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
        });
        let sessions = Arc::new(SessionService {
            commands: commands.clone(),
            directory: shared.directory.clone(),
        });
        let stimuli = Arc::new(StimulusService {
            commands: commands.clone(),
            reads: reads.clone(),
            directory: shared.directory.clone(),
        });
        let streams = Arc::new(StreamService {
            audit: audit.clone(),
            commands: commands.clone(),
            directory: shared.directory.clone(),
        });
        let methods = Arc::new(ThreadMethods {
            feed: shared.feed.clone(),
            commands: commands.clone(),
            identity: identity.clone(),
            names: names.clone(),
            posts: posts.clone(),
            reads: reads.clone(),
            threads: threads.clone(),
            clock: shared.clock.clone(),
            directory: shared.directory.clone(),
            homes: Default::default(),
            summaries: shared.summaries.clone(),
            workspace_id: shared.workspace_id.clone(),
        });
        let turns = Arc::new(TurnService {
            commands: commands.clone(),
            directory: shared.directory.clone(),
        });
        Self {
            shared,
            commands,
            identity,
            reads,
            names,
            approvals,
            assets,
            search,
            messages,
            asset_reads,
            audit,
            threads,
            dispositions,
            posts,
            callbacks,
            retention,
            channels,
            deliveries,
            mail,
            reactions,
            runs,
            claims,
            copies,
            cursors,
            digests,
            tokens,
            members,
            endpoints,
            log,
            explanations,
            inboxes,
            operator,
            short_ids,
            sign_ins,
            pauses,
            projects,
            roles,
            schedules,
            sessions,
            stimuli,
            streams,
            methods,
            turns,
        }
    }
}
