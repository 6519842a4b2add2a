/** What the Work screen shows: each tab a list of the host's, with the columns that are read. */
import { api } from '../../api/client';
import type { components } from '../../../types/schema';
import { app } from '../../state/app.svelte';
import { hiring } from '../hire/hiring.svelte';
import { plain, span, visible } from '../../state/format';
import { member, place, tab, when, type Tab } from './tab';
import { THREADS } from './threads';

type Schemas = components['schemas'];

const DAY_MS = 86_400_000;
const AUDIT = { page: 1_000, shown: 500 };

/** The newest entries of the audit log since a time: the host gives the oldest first. */
async function auditOf(since: string): Promise<Schemas['AuditEntry'][]> {
  let shown: Schemas['AuditEntry'][] = [];
  let page: { entries: Schemas['AuditEntry'][]; next?: string | null } = { entries: [] };
  do {
    page = await api.get('/v1/audit', { since, limit: AUDIT.page, after: page.next ?? undefined });
    shown = [...shown, ...page.entries].slice(-AUDIT.shown);
  } while (page.next && page.entries.length === AUDIT.page);
  return shown.toReversed();
}

const credits = (amount: number) => amount.toFixed(2);
/** Of each channel, one after the other: a host is not asked a hundred things at once. */
async function ofEachChannel<T>(path: (id: string) => string, read: (answer: never) => T[]): Promise<(T & { channel: string })[]> {
  const all: (T & { channel: string })[] = [];
  for (const channel of app.channels.all.filter((one) => one.kind === 'channel')) {
    const found = read(await api.get(path(channel.id)));
    all.push(...found.map((one) => ({ ...one, channel: channel.id })));
  }
  return all;
}

export const TABS: Tab[] = [
  THREADS,
  tab<Schemas['Schedule'] & { channel: string }>({
    id: 'schedules',
    title: 'Schedules',
    about: 'What channels are asked again and again.',
    none: 'Nothing is scheduled.',
    how: { command: 'chorus schedule add', does: 'adds a schedule to a channel' },
    columns: [
      { title: 'Channel', of: (s) => place(s.channel) },
      { title: 'Schedule', of: (s) => visible(s.title ?? s.text ?? '') },
      { title: 'When', of: (s) => s.cron ?? (s.every_ms ? `every ${span(s.every_ms)}` : '') },
      { title: 'Next', of: (s) => (s.paused ? 'paused' : when(s.next_at)) },
      { title: 'By', of: (s) => member(s.maker) },
    ],
    load: () => ofEachChannel((id) => `/v1/channels/${id}/schedules`, (answer: { schedules: Schemas['Schedule'][] }) => answer.schedules),
  }),
  tab<Schemas['Stimulus'] & { channel: string }>({
    id: 'stimuli',
    title: 'Stimuli',
    about: 'What was put to channels from elsewhere, and what became of it.',
    none: 'Nothing was put to a channel.',
    how: { command: 'chorus stimuli create', does: 'puts something to one' },
    columns: [
      { title: 'At', of: (s) => when(s.created_at) },
      { title: 'Channel', of: (s) => place(s.channel) },
      { title: 'What', of: (s) => visible(s.text ?? '') },
      { title: 'Kind', of: (s) => plain(s.kind) },
      { title: 'By', of: (s) => member(s.source) },
      { title: 'State', of: (s) => `${plain(s.state)}${s.reason ? `: ${plain(s.reason)}` : ''}` },
    ],
    acts: [
      { title: 'Cancel', when: (s) => s.state === 'pending' || s.state === 'held', run: (s) => api.post(`/v1/channels/${s.channel}/stimuli/${s.id}/cancel`), done: 'Cancelled.' },
    ],
    load: () => ofEachChannel((id) => `/v1/channels/${id}/stimuli`, (answer: { stimuli: Schemas['Stimulus'][] }) => answer.stimuli),
  }),
  tab<Schemas['Project']>({
    id: 'projects',
    title: 'Projects',
    about: 'Who works together on what.',
    none: 'No project yet.',
    how: { command: 'chorus project create', does: 'begins one' },
    columns: [
      { title: 'Project', of: (p) => visible(p.title) },
      { title: 'What for', of: (p) => visible(p.description ?? '') },
      { title: 'By', of: (p) => member(p.created_by) },
      { title: 'Since', of: (p) => when(p.created_at) },
    ],
    load: async () => (await api.get<{ projects: Schemas['Project'][] }>('/v1/projects')).projects,
  }),
  tab<Schemas['AgentForHire']>({
    id: 'registry',
    title: 'Registry',
    about: 'Agents for hire: what they can do, for how much, and how well they did.',
    none: 'Nobody offers anything yet.',
    how: { command: 'chorus skill offer', does: 'offers a skill of an agent' },
    columns: [
      { title: 'Agent', of: (a) => visible(a.agent_name) },
      { title: 'Skills', of: (a) => a.skills.map((s) => `${s.skill_name} ${credits(s.cost_per_call)}`).join(', ') },
      { title: 'Reputation', of: (a) => a.reputation_score.toFixed(1), isNumber: true },
      { title: 'Done', of: (a) => String(a.jobs_succeeded), isNumber: true },
      { title: 'Failed', of: (a) => String(a.jobs_failed), isNumber: true },
      { title: 'State', of: (a) => `${a.status}${a.verified ? ', verified' : ''}` },
      { title: 'Owner', of: (a) => a.owner_id },
    ],
    acts: [{ title: 'Hire', run: (a) => void (hiring.asked = { agent: a.agent_id }), done: '' }],
    load: async () => (await api.get<{ agents: Schemas['AgentForHire'][] }>('/agents', { limit: 200 })).agents,
  }),
  tab<Schemas['Job']>({
    id: 'jobs',
    title: 'Jobs',
    about: 'Jobs, the newest first.',
    none: 'No job yet.',
    how: { command: 'chorus hire', does: 'asks an agent to do one' },
    columns: [
      { title: 'Asked', of: (j) => when(j.created_at) },
      { title: 'Skill', of: (j) => j.skill_name },
      { title: 'State', of: (j) => `${j.state}${j.outcome ? ` (${plain(j.outcome)})` : ''}` },
      { title: 'For', of: (j) => j.hirer_owner },
      { title: 'By', of: (j) => j.agent_owner },
      { title: 'Budget', of: (j) => credits(j.budget), isNumber: true },
      { title: 'Paid', of: (j) => credits(j.paid), isNumber: true },
    ],
    acts: [
      {
        title: 'Take back',
        when: (j) => j.hirer === app.me && (j.state === 'Open' || j.state === 'Funded'),
        run: (j) => (confirm('Take this job back? What is held returns.') ? api.delete(`/jobs/${j.job_id}`) : undefined),
        done: 'Taken back.',
      },
      {
        title: 'Contest',
        when: (j) => j.hirer === app.me && j.state === 'Completed' && !j.dispute,
        run: (j) => {
          const reason = prompt('What is wrong with the result? An operator reads it and decides.');
          return reason ? api.post(`/jobs/${j.job_id}/dispute`, { reason }) : undefined;
        },
        done: 'Contested. An operator decides.',
      },
    ],
    load: async () => (await api.get<{ jobs: Schemas['Job'][] }>('/jobs', { side: app.isOperator ? 'all' : 'hirer', limit: 100 })).jobs,
  }),
  tab<Schemas['LedgerEntry']>({
    id: 'ledger',
    title: 'Ledger',
    isForOperators: true,
    about: 'Every movement of credits, in order; each entry has the hash of the one before.',
    none: 'No credits have moved.',
    columns: [
      { title: 'No.', of: (e) => String(e.entry), isNumber: true },
      { title: 'At', of: (e) => when(e.at) },
      { title: 'From', of: (e) => e.from_owner },
      { title: 'To', of: (e) => e.to_owner },
      { title: 'Amount', of: (e) => credits(e.amount), isNumber: true },
      { title: 'For', of: (e) => `${plain(e.kind)}${e.memo ? `: ${e.memo}` : ''}` },
    ],
    load: async () => (await api.get<{ entries: Schemas['LedgerEntry'][] }>('/audit', { limit: 200 })).entries,
  }),
  tab<Schemas['Delivery']>({
    id: 'deliveries',
    title: 'Deliveries',
    about: 'What is on its way to you, and what could not be delivered.',
    none: 'Nothing is on its way to you.',
    columns: [
      { title: 'At', of: (d) => when(d.created_at) },
      { title: 'From', of: (d) => member(d.author) },
      { title: 'To', of: (d) => member(d.member) },
      { title: 'Where', of: (d) => place(d.conversation) },
      { title: 'Owed', of: (d) => plain(d.policy) },
      { title: 'Rule', of: (d) => plain(d.reason) },
      { title: 'State', of: (d) => `${d.state}${d.disposition ? `, ${plain(d.disposition)}` : ''}${d.overdue ? ', overdue' : ''}` },
    ],
    load: async () => (await api.get<{ deliveries: Schemas['Delivery'][] }>('/v1/deliveries', { state: 'all' })).deliveries.toReversed(),
  }),
  tab<Schemas['Endpoint']>({
    id: 'connections',
    title: 'Connections',
    isForOperators: true,
    about: 'Agents that are reached by a connection string.',
    none: 'No agent is reached by a connection string.',
    how: { command: 'chorus webhook add', does: 'connects one' },
    columns: [
      { title: 'Agent', of: (e) => member(e.member) },
      { title: 'Address', of: (e) => e.host },
      { title: 'State', of: (e) => plain(e.state) },
      { title: 'Waiting', of: (e) => String(e.waiting), isNumber: true },
      { title: 'Last error', of: (e) => (e.last_error ? JSON.stringify(e.last_error) : '') },
    ],
    acts: [
      {
        title: 'Rotate',
        run: (e) => {
          const url = prompt(`The new connection string of @${app.people.handle(e.member)}. The old one ends at once.`);
          return url ? api.post(`/v1/endpoints/${e.member}/rotate`, { url }) : undefined;
        },
        done: 'The new connection string counts.',
      },
      { title: 'Test', run: (e) => api.post(`/v1/endpoints/${e.member}/test`), done: 'A test message is on its way.' },
      {
        title: 'Remove',
        run: (e) => (confirm(`Is @${app.people.handle(e.member)} to be reached by its connection string no more?`) ? api.delete(`/v1/endpoints/${e.member}`) : undefined),
        done: 'Removed.',
      },
    ],
    load: async () => (await api.get<{ endpoints: Schemas['Endpoint'][] }>('/v1/endpoints')).endpoints,
  }),
  tab<Schemas['TokenInfo']>({
    id: 'tokens',
    title: 'Tokens',
    about: 'Who may come in, and until when.',
    none: 'No token is in use.',
    columns: [
      { title: 'Member', of: (t) => member(t.member) },
      { title: 'Role', of: (t) => t.role },
      { title: 'Since', of: (t) => when(t.issued_at) },
      { title: 'Until', of: (t) => (t.revoked ? 'ended' : when(t.expires_at)) },
      { title: 'Id', of: (t) => t.jti },
    ],
    past: { title: 'revoked tokens and used invitations', is: (t) => t.revoked },
    acts: [
      {
        title: 'Revoke',
        when: (t) => !t.revoked,
        run: (t) => (confirm(`End this token of ${member(t.member)}? Whatever uses it is cut off at once.`) ? api.delete(`/v1/tokens/${t.jti}`) : undefined),
        done: 'Revoked.',
      },
    ],
    load: async () => (await api.get<{ tokens: Schemas['TokenInfo'][] }>('/v1/tokens')).tokens,
  }),
  tab<Schemas['AuditEntry']>({
    id: 'audit',
    title: 'Audit',
    isForOperators: true,
    about: 'Who did what to whom in the last day, the newest first.',
    none: 'Nothing yet.',
    columns: [
      { title: 'At', of: (e) => when(e.at) },
      { title: 'Who', of: (e) => member(e.by) },
      { title: 'What', of: (e) => plain(e.kind) },
      { title: 'On', of: (e) => [...new Set([e.member, e.name, e.subject])].flatMap((on) => (on ? [place(on)] : [])).join(' ') },
      { title: 'Refused', of: (e) => (e.refused ? plain(String(e.refused)) : '') },
    ],
    load: () => auditOf(new Date(Date.now() - DAY_MS).toISOString()),
  }),
];
