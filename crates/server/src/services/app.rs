//! The services of a host, put together. Each is a struct with the few handles that it needs; none knows
//! [`App`].

use std::sync::Arc;

use arc_swap::Guard;
use chorus_core::model::endpoint::State;
use chorus_core::model::ids::{MemberKey, Timestamp};
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
use super::hosts::HostService;
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
use super::registry::agents::AgentService;
use super::registry::asking::AskingService;
use super::registry::jobs::JobService;
use super::registry::ledger::LedgerService;
use super::registry::pipelines::PipelineService;
use super::retention::RetentionService;
use super::roles::RoleService;
use super::runs::RunService;
use super::schedules::ScheduleService;
use super::screens::ScreenService;
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
use super::wakes::WakeService;
use super::workspaces::WorkspaceService;

/// Declares [`App`] and how it is put together. A service has the `services` above it that it uses, handles that the host
/// has `shared`, and `new` state of its own.
macro_rules! services {
    ($($name:ident: $type:ident {
        $(services: $($service:ident),+;)?
        $(shared: $($handle:ident),+;)?
        $(new: $($state:ident),+;)?
    })*) => {
        /// One host: what it shares, and what can be done here.
        pub(crate) struct App {
            pub(crate) shared: Shared,
            $(pub(crate) $name: Arc<$type>,)*
        }

        impl App {
            pub(crate) fn new(shared: Shared) -> Self {
                $(let $name = Arc::new($type {
                    $($($service: Arc::clone(&$service),)+)?
                    $($($handle: Clone::clone(&shared.$handle),)+)?
                    $($($state: Default::default(),)+)?
                });)*
                Self { shared, $($name,)* }
            }
        }
    };
}

services! {
    commands: Commands {
        shared: clock, directory, id_generator, limits, metrics, quotas, readers, redactor, traces,
            webhooks, writer;
    }
    identity: Identity {
        shared: auth, clock, directory, workspace_id, workspace_name;
    }
    reads: Reads {
        shared: channel_count, clock, readers;
        new: kinds;
    }
    approvals: ApprovalService {
        services: commands, identity, reads;
        shared: clock, directory, sensitive;
    }
    assets: AssetService {
        services: commands, reads;
        shared: body_time, clock, data, objects, quotas, workspace_id;
        new: dropped, thumbnails, uploads;
    }
    search: SearchService {
        services: commands, reads;
        shared: clock, directory, searching;
    }
    messages: MessageService {
        services: assets, commands, reads, search;
        shared: clock, directory, gone, quotas, readers;
        new: tails;
    }
    asset_reads: AssetReader {
        services: assets, identity, messages, reads;
        shared: public_url;
    }
    audit: AuditService {
        services: commands, reads;
        shared: auth, clock, directory, workspace_id;
    }
    hosts: HostService {
        shared: cluster, public_url;
    }
    workspaces: WorkspaceService {
        services: audit;
        shared: public_url, workspaces;
    }
    threads: ThreadService {
        services: commands, reads;
        shared: budgets, directory;
    }
    dispositions: DispositionService {
        services: commands, identity, reads, threads;
        shared: clock, connections, directory, feed, redactor, replies, typing;
    }
    names: Names {
        services: reads;
        shared: directory;
    }
    posts: PostService {
        services: assets, commands, identity, names, reads;
        shared: directory, metrics, typing;
    }
    callbacks: CallbackService {
        services: commands, dispositions, posts;
        shared: auth, clock, directory, id_generator, feed, public_url, redactor, replies, webhooks;
    }
    retention: RetentionService {
        services: commands, reads;
        shared: clock, directory, drain, metrics, rules, searching;
    }
    channels: ChannelService {
        services: commands, reads, retention;
        shared: budgets, directory;
    }
    deliveries: DeliveryService {
        services: commands, reads;
        shared: directory;
    }
    mail: MailService {
        services: commands, deliveries, messages, reads;
        shared: directory;
    }
    reactions: ReactionService {
        services: commands, identity;
    }
    runs: RunService {
        services: assets, commands, identity, mail, messages, reactions, reads;
        shared: directory;
    }
    claims: ClaimService {
        services: commands, deliveries, identity, runs;
        shared: auth, clock, directory, workspace_id;
    }
    copies: CopyService {
        shared: auth, clock, data, objects, place, writer;
        new: copying;
    }
    cursors: CursorService {
        services: commands, reads;
    }
    digests: DigestService {
        services: commands, reads;
        shared: connections, directory;
    }
    tokens: TokenService {
        services: audit, commands;
        shared: auth, clock, cluster, connections, directory, id_generator, feed, workspaces;
        new: rotating;
    }
    members: MemberService {
        services: audit, commands, deliveries, tokens;
        shared: clock, directory, webhooks, workspace_id;
    }
    endpoints: EndpointService {
        services: callbacks, audit, channels, commands, members, reads, tokens;
        shared: auth, clock, directory, id_generator, webhooks;
    }
    log: EventLog {
        services: identity, reads;
        shared: gone, directory, directory_moved, feed;
    }
    wakes: WakeService {
        services: commands, reads;
        shared: directory;
        new: reports;
    }
    explanations: ExplanationService {
        services: commands, reads, wakes;
        shared: budgets, clock, directory, flow, readers;
    }
    inboxes: InboxService {
        services: assets, commands, reads;
        shared: auth, clock, directory, id_generator, limits, metrics, public_url, webhooks;
    }
    operator: Operator {
        services: commands, identity, tokens;
        shared: clock, directory;
    }
    short_ids: ShortIds {
        services: messages, threads;
    }
    sign_ins: SignInService {
        services: audit, channels, commands, identity, reads, tokens;
        shared: auth, clock, directory, id_generator, links, public_url;
        new: sent_out, accepting;
    }
    pauses: PauseService {
        services: commands, reads;
        shared: budgets, directory;
    }
    projects: ProjectService {
        services: audit, commands, reads;
        shared: directory;
    }
    roles: RoleService {
        services: audit, commands;
        shared: directory;
    }
    schedules: ScheduleService {
        services: commands, reads;
        shared: directory;
    }
    screens: ScreenService {
        services: commands, identity;
        shared: clock, connections, directory, drain, redactor;
        new: screens;
    }
    sessions: SessionService {
        services: commands;
        shared: clock, directory, workspace_id, workspace_name;
    }
    stimuli: StimulusService {
        services: commands, reads;
        shared: directory;
    }
    streams: StreamService {
        services: audit, commands;
        shared: directory;
    }
    methods: ThreadMethods {
        services: commands, identity, names, posts, reads, threads;
        shared: feed, clock, directory, summaries, workspace_id;
        new: homes;
    }
    agents: AgentService {
        services: commands, reads;
        shared: auth, clock, directory, hiring, public_url, webhooks, workspace_name;
    }
    asking: AskingService {
        services: commands, reads;
        shared: clock, hiring;
    }
    jobs: JobService {
        services: agents, commands, reads;
        shared: auth, clock, directory, hiring, id_generator, webhooks;
    }
    pipelines: PipelineService {
        services: agents, jobs, commands, reads;
        shared: clock, id_generator;
    }
    ledger: LedgerService {
        services: agents, commands, reads;
        shared: auth, clock, directory, id_generator;
    }
    turns: TurnService {
        services: commands;
        shared: directory;
    }
}

impl App {
    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Who there is, as of now.
    pub(crate) fn directory(&self) -> Guard<Arc<Directory>> {
        self.shared.directory.load()
    }

    /// Whom the host posts to.
    pub(crate) fn active_endpoints(&self) -> Vec<MemberKey> {
        let directory = self.directory();
        let present = |of: &MemberKey| directory.member(*of).is_some_and(|member| !member.removed);
        let active = directory.endpoints.iter().filter(|(_, e)| e.state == State::Active);
        active.map(|(of, _)| *of).filter(present).collect()
    }

    /// Whether the host can still write.
    pub(crate) fn ready(&self) -> Result<(), String> {
        if self.shared.drain.is_draining() {
            return Err("draining".to_owned());
        }
        if let Some(why) = self.shared.cluster.view().and_then(|view| view.trouble) {
            return Err(why);
        }
        let health = self.shared.writer.health();
        if health.ok { Ok(()) } else { Err(health.reason.unwrap_or_default()) }
    }
}
