import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { LimitUsage, RequestLogEntry } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { PLAYED_USAGE, signatureOf } from '../harness/played/played-turn.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { type AgentSite, modelsOf, type RunEvidence, type RunPlan, runAgent } from './agent-run.ts';
import { changedBytes, ownProtocol } from './changed-bytes.ts';
import { installClients } from './install-clients.ts';
import { createPlayedModel } from './played-model.ts';
import { LAST_WORDS, TURNS } from './task.ts';

// Claude Code, Codex and opencode, as they are published, do a task with files, commands and parallel calls; the simulated provider plays
// the model. Their bytes pass unchanged to a provider of their protocol, and translated to one of the other.

const ROWS_MS_MAX = 15_000;
/** Before any content, whatever the protocol. */
const CUT = { cutAfterFrames: 1 };
const FAULTS = [
  { nth: 3, fault: { status: 429, retryAfter: 1 } },
  { nth: 3, fault: CUT },
];

const shortPlans: readonly RunPlan[] = [
  { client: 'claude-code', name: 'own', spoken: ['messages'] },
  { client: 'codex', name: 'own', spoken: ['responses'] },
  { client: 'claude-code', name: 'other', spoken: ['chat'] },
  { client: 'codex', name: 'other', spoken: ['messages'] },
  { client: 'codex', name: 'chat', spoken: ['chat'] },
  { client: 'opencode', name: 'own', spoken: ['chat'] },
  { client: 'opencode', name: 'other', spoken: ['messages'] },
  { client: 'claude-code', name: 'own-then-other', spoken: ['messages', 'chat'], faults: FAULTS },
  { client: 'codex', name: 'other-then-own', spoken: ['messages', 'responses'], faults: FAULTS },
];
const longPlans: readonly RunPlan[] = [
  { client: 'codex', name: 'own-then-other', spoken: ['responses', 'messages'], faults: FAULTS },
  { client: 'claude-code', name: 'other-then-own', spoken: ['chat', 'messages'], faults: FAULTS },
];
const plans = IS_LONG ? [...shortPlans, ...longPlans] : shortPlans;

let site: AgentSite;
let deployment: Deployment;
const model = createPlayedModel();
const directory = mkdtempSync(join(tmpdir(), 'relay-agents-'));
const figures = { clients: new Set<string>(), turns: 0, failed: 0, changedBytes: 0 };

before(async () => {
  const clients = await installClients();
  deployment = await startDeployment({ provider: { play: model.play, models: modelsOf(plans) } });
  site = { deployment, clients, model, directory };
});
after(async () => {
  await deployment.stop();
  rmSync(directory, { recursive: true, force: true });
  const { clients, turns, failed, changedBytes: changed_bytes } = figures;
  reportFigures({ clients: clients.size, turns, failed, changed_bytes });
});

describe('agents', () => {
  for (const plan of plans)
    it(`${plan.client} finishes its task on ${plan.spoken.join(' and ')}${plan.faults ? ', with faults on the way' : ''}`, async () => {
      figures.failed += 1;
      const evidence = await runAgent(site, plan);
      figures.clients.add(plan.client);
      figures.turns += evidence.task.asked.size;
      judgeClient(evidence);
      judgeProvider(evidence);
      judgeFeatures(evidence);
      const rows = await rowsOf(evidence);
      judgeRows(evidence, rows);
      await judgeLimit(evidence, rows);
      figures.failed -= 1;
    });
});

function judgeClient({ end, recorded, task, written }: RunEvidence): void {
  const said = `${end.stdout.slice(-2_000)}\n${end.stderr.slice(-2_000)}`;
  assert.equal(end.code, 0, said);
  assert.ok(end.stdout.includes(LAST_WORDS), said);
  assert.deepEqual(task.missing, []);
  assert.equal(task.asked.size, TURNS);
  for (const { tool, result } of task.steps.flatMap(({ calls }) => calls))
    if (tool === 'shell') assert.equal(written.split(result).length, 2, `${result} was not written once`);
  const failed = recorded.filter(({ status }) => status !== 200);
  assert.deepEqual(
    failed.map(({ path, status, answer }) => `${path} ${status} ${answer}`),
    [],
  );
}

function judgeProvider(evidence: RunEvidence): void {
  const { plan, recorded, received } = evidence;
  const { compared, bytes } = changedBytes(evidence);
  figures.changedBytes += bytes;
  assert.equal(bytes, 0);
  const own = ownProtocol(plan);
  assert.equal(compared > 0, plan.spoken.includes(own));
  const refused = received.filter(
    ({ outcome, violations }) => outcome === 'refused' || violations.length > 0,
  );
  assert.deepEqual(refused, []);
  // A translation sends only what the provider's API knows.
  const translated = received.filter(({ path }) => !path.endsWith(own));
  assert.deepEqual(
    translated.flatMap(({ unknownFields }) => unknownFields),
    [],
  );
  const named = recorded.filter(({ headers }) => headers['x-relay-translated-to'] !== undefined);
  assert.equal(
    named.length > 0,
    plan.spoken.some((spoken) => spoken !== own),
  );
}

/** What each client says of caches, and how it returns the thinking of the first step, that of translations among it. Null: neither. */
const FEATURES = {
  opencode: null,
  'claude-code': {
    cache: 'cache_control',
    thinking: `"signature":"${signatureOf(0)}"`,
    ownThinking: { mark: '"relay-unsigned"', field: 'messages.content' },
  },
  codex: {
    cache: 'prompt_cache_key',
    thinking: `"encrypted_content":"${signatureOf(0)}"`,
    ownThinking: { mark: '"relay-thinking-', field: 'input' },
  },
} as const;

/** The client has used caches and thinking, and Relay names what it left out of that. */
function judgeFeatures({ plan, recorded }: RunEvidence): void {
  const features = FEATURES[plan.client];
  if (features === null) return;
  const { cache, thinking, ownThinking } = features;
  const last = recorded.at(-1)?.body.toString() ?? '';
  assert.ok(last.includes(`"${cache}"`));
  if (plan.spoken[0] === ownProtocol(plan)) assert.ok(last.includes(thinking));
  for (const { headers, body } of recorded) {
    const leftOut = headers['x-relay-left-out'];
    if (headers['x-relay-translated-to'] !== undefined) assert.ok(String(leftOut).includes(cache));
    else assert.equal(leftOut, body.includes(ownThinking.mark) ? ownThinking.field : undefined);
  }
}

/** The ledger's rows of the run's lane, once there is one for each request. */
async function rowsOf({ lane, recorded }: RunEvidence): Promise<readonly RequestLogEntry[]> {
  let rows: readonly RequestLogEntry[] = [];
  await until(async () => {
    rows = (await readRequestLog(deployment.admin)).filter(({ lane_id }) => lane_id === lane.laneId);
    return rows.length >= recorded.length;
  }, ROWS_MS_MAX);
  return rows;
}

function judgeRows({ plan, lane, recorded, received }: RunEvidence, rows: readonly RequestLogEntry[]): void {
  assert.equal(rows.length, recorded.length);
  const { input, cacheRead, output } = PLAYED_USAGE;
  for (const row of rows) {
    assert.equal(row.state, 'completed');
    // The attempt that was cut off reported nothing, so its estimate is added.
    if (row.usage_source === 'estimated') assert.ok((row.input_tokens ?? 0) > input);
    else
      assert.deepEqual(
        [row.usage_source, row.input_tokens, row.cached_input_tokens, row.output_tokens],
        ['reported', input, cacheRead, output],
      );
  }
  const cut = (plan.faults ?? []).filter(({ fault }) => fault === CUT);
  assert.equal(rows.filter(({ usage_source }) => usage_source === 'estimated').length, cut.length);
  const answering = new Set(rows.map(({ endpoint_id }) => endpoint_id));
  assert.deepEqual([...answering].sort(), [...lane.endpointIds].sort());
  const fallbacks = rows.reduce((sum, { fallback_count }) => sum + fallback_count, 0);
  assert.equal(fallbacks, plan.faults?.length ?? 0);
  assert.equal(received.length, rows.length + fallbacks);
}

/** A lane's limit has counted what the rows say, and holds nothing back. */
async function judgeLimit({ lane }: RunEvidence, rows: readonly RequestLogEntry[]): Promise<void> {
  const sum = rows.reduce((tokens, { total_tokens }) => tokens + (total_tokens ?? 0), 0);
  const { body } = await deployment.admin.call('GET', '/api/relay/limits/usage?limit=1000');
  const usage = (body as readonly LimitUsage[]).find(({ policy_id }) => policy_id === lane.policyId);
  assert.equal(usage?.reserved, 0);
  assert.equal(usage.used, sum);
}
