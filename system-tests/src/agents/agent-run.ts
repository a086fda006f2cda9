import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault, RequestLogEntry } from '@relay/provider-sim';
import { createLane, type LaneIds } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import type { InstalledClients } from './install-clients.ts';
import type { PlayedModel, PlayedTask, ToolWords } from './played-model.ts';
import { type Recorded, startRecordingProxy } from './recording-proxy.ts';
import { type ClientEnd, type ClientRun, runClaudeCode, runCodex, runOpencode } from './run-client.ts';
import { type Step, taskSteps, writeTaskFiles } from './task.ts';

export type ClientName = 'claude-code' | 'codex' | 'opencode';
/** What an endpoint speaks: Messages, chat completions alone, or responses. */
export type Spoken = 'messages' | 'chat' | 'responses';

export interface RunPlan {
  readonly client: ClientName;
  /** Says which run of the client it is. */
  readonly name: string;
  /** Of the lane's endpoints, by rank. */
  readonly spoken: readonly Spoken[];
  /** Faults of the first endpoint, each at the request with its number. */
  readonly faults?: readonly { readonly nth: number; readonly fault: Fault }[];
}

/** What a run left behind on every side. */
export interface RunEvidence {
  readonly plan: RunPlan;
  readonly end: ClientEnd;
  readonly task: PlayedTask;
  readonly lane: LaneIds & { readonly slug: string; readonly policyId: string };
  /** What the client sent and got. */
  readonly recorded: readonly Recorded[];
  /** What the provider got. */
  readonly received: readonly RequestLogEntry[];
  /** What the client's commands wrote. */
  readonly written: string;
}

export interface AgentSite {
  readonly deployment: Deployment;
  readonly clients: InstalledClients;
  readonly model: PlayedModel;
  readonly directory: string;
}

const ENDPOINTS: Readonly<Record<Spoken, object>> = {
  messages: {
    provider: { auth_mode: 'header_static', auth_header_name: 'x-api-key' },
    endpoint: { protocol: 'anthropic', route_kind: 'messages' },
  },
  chat: { endpoint: { route_kind: 'chat' } },
  responses: { endpoint: { route_kind: 'responses' } },
};

/** The provider's models that the runs use. */
export function modelsOf(plans: readonly RunPlan[]): string[] {
  return plans.flatMap((plan) => plan.spoken.map((spoken) => upstreamModel(plan, spoken)));
}

function upstreamModel({ client, name }: RunPlan, spoken: Spoken): string {
  return `${client}-${name}-${spoken}`;
}

/** Creates a lane as the plan says, lets the client do the task on it, and collects what every side saw. */
export async function runAgent(site: AgentSite, plan: RunPlan): Promise<RunEvidence> {
  const { deployment, clients, model } = site;
  const slug = `${plan.client}-${plan.name}`;
  const models = modelsOf([plan]);
  const lane = await laneOf(deployment, plan, slug);
  for (const { nth, fault } of plan.faults ?? [])
    deployment.provider.script({ match: { model: models[0] ?? '', nth }, fault });
  const [home, workDirectory] = ['home', 'work'].map((part) => join(site.directory, slug, part)) as [
    string,
    string,
  ];
  mkdirSync(home, { recursive: true });
  mkdirSync(workDirectory, { recursive: true });
  writeTaskFiles(workDirectory);
  const steps: readonly Step[] = taskSteps(workDirectory);
  const { words, run, file } = CLIENTS[plan.client];
  const task = model.begin(models, steps, words);
  const proxy = await startRecordingProxy(deployment.url);
  try {
    const token = deployment.apiToken;
    const end = await run({ file: file(clients), url: proxy.url, token, model: slug, home, workDirectory });
    const received = deployment.provider.log.filter((entry) => models.includes(entry.model ?? ''));
    const written = readFileSync(join(workDirectory, 'log.txt'), 'utf8');
    return { plan, end, task, lane, recorded: proxy.recorded, received, written };
  } finally {
    await proxy.close();
  }
}

async function laneOf({ admin, provider }: Deployment, plan: RunPlan, slug: string) {
  const { baseUrl } = provider;
  const endpoints = plan.spoken.map((spoken) => ({
    baseUrl,
    upstreamModel: upstreamModel(plan, spoken),
    ...ENDPOINTS[spoken],
  }));
  const lane = await createLane(admin, { name: slug, endpoints });
  const { id } = await admin.create('/api/relay/limit-policies', {
    scope_type: 'lane',
    scope_id: lane.laneId,
    metric: 'tokens',
    period: 'day',
    limit_value: 100_000_000,
    enabled: true,
  });
  return { ...lane, slug, policyId: id };
}

const claudeWords: ToolWords = ({ tool, what }) => {
  switch (tool) {
    case 'read':
      return { name: 'Read', input: { file_path: what } };
    case 'search':
      return { name: 'ToolSearch', input: { query: `select:${what}`, max_results: 5 } };
    case 'shell':
      return { name: 'Bash', input: { command: what, description: 'Run a part of the task' } };
  }
};

/** Codex reads files with commands, and has no tools to look for. */
const codexWords: ToolWords = ({ tool, what }) => {
  const cmd = { read: `cat ${what}`, search: `echo ${what}`, shell: what }[tool];
  return { name: 'exec_command', input: { cmd } };
};

const opencodeWords: ToolWords = ({ tool, what }) => {
  if (tool === 'read') return { name: 'read', input: { filePath: what } };
  const command = tool === 'shell' ? what : `echo ${what}`;
  return { name: 'bash', input: { command, description: 'Run a part of the task' } };
};

interface PlayedClient {
  readonly words: ToolWords;
  readonly run: (run: ClientRun) => Promise<ClientEnd>;
  readonly file: (installed: InstalledClients) => string;
}

const CLIENTS: Readonly<Record<ClientName, PlayedClient>> = {
  'claude-code': { words: claudeWords, run: runClaudeCode, file: ({ claudeCode }) => claudeCode },
  codex: { words: codexWords, run: runCodex, file: ({ codex }) => codex },
  opencode: { words: opencodeWords, run: runOpencode, file: ({ opencode }) => opencode },
};
