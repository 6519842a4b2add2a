//! What the dispatchers are given of the host.

use std::sync::Arc;

use crate::dispatch::jobs::Handles as JobHandles;
use crate::dispatch::replies::handles::Handles as ReplyHandles;
use crate::dispatch::webhook::handles::Handles as WebhookHandles;
use crate::services::App;

pub(super) fn webhook(app: &App) -> Arc<WebhookHandles> {
    let shared = &app.shared;
    Arc::new(WebhookHandles {
        auth: shared.auth.clone(),
        callbacks: app.callbacks.clone(),
        clock: shared.clock.clone(),
        commands: app.commands.clone(),
        connections: shared.connections.clone(),
        directory: shared.directory.clone(),
        drain: shared.drain.clone(),
        endpoints: app.endpoints.clone(),
        id_generator: shared.id_generator.clone(),
        messages: app.messages.clone(),
        metrics: shared.metrics.clone(),
        public_url: shared.public_url.clone(),
        runs: app.runs.clone(),
        sessions: app.sessions.clone(),
        webhooks: shared.webhooks.clone(),
        workspace_name: shared.workspace_name.clone(),
    })
}

pub(super) fn replies(app: &App) -> Arc<ReplyHandles> {
    let shared = &app.shared;
    Arc::new(ReplyHandles {
        auth: shared.auth.clone(),
        clock: shared.clock.clone(),
        commands: app.commands.clone(),
        directory: shared.directory.clone(),
        id_generator: shared.id_generator.clone(),
        inboxes: app.inboxes.clone(),
        replies: shared.replies.clone(),
        webhooks: shared.webhooks.clone(),
    })
}

pub(super) fn jobs(app: &App) -> Arc<JobHandles> {
    let shared = &app.shared;
    Arc::new(JobHandles {
        agents: app.agents.clone(),
        asking: app.asking.clone(),
        auth: shared.auth.clone(),
        clock: shared.clock.clone(),
        commands: app.commands.clone(),
        directory: shared.directory.clone(),
        hiring: shared.hiring.clone(),
        id_generator: shared.id_generator.clone(),
        jobs: app.jobs.clone(),
        public_url: shared.public_url.clone(),
        webhooks: shared.webhooks.clone(),
    })
}
