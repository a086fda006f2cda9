import { Agent } from 'node:http';
import { type GuardrailSim, startGuardrailSim } from '@relay/provider-sim';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { afterMs } from '../harness/until.ts';
import { type Sent, sendOne, startLoad, tagAt, tagsAsked } from './switch-load.ts';

// A guardrail switched on while requests run at three gateways, judged by what the provider saw and when.

const PROCESSES = 3;
const PER_SECOND = 100;
const BEFORE_MS = 1_000;
const AFTER_MS = 2_000;
/** How long requests may be dispatched unchecked after the switch is confirmed. */
const GRACE_MS = 1_000;
/** One at a time, so slowly that some wait for seconds. */
const SLOW_MS = 400;
const WAITING = 10;
const WARM_UP_ROUNDS = 50;

export interface SwitchSite {
  readonly deployment: Deployment;
  readonly guardrails: GuardrailSim;
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startSwitchSite(): Promise<SwitchSite> {
  const [deployment, guardrails] = await Promise.all([
    startDeployment({ processes: PROCESSES }),
    startGuardrailSim(),
  ]);
  const { admin, provider } = deployment;
  const entry = { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' };
  const roomy = { max_concurrency: 1_000, pacing: false };
  await createLane(admin, { name: 'busy', endpoints: [{ ...entry, endpoint: roomy }] });
  await createLane(admin, {
    name: 'slow',
    endpoints: [{ ...entry, secret: 'sk-slow', endpoint: { max_concurrency: 1, pacing: false } }],
    lane: { default_max_wait_ms: 20_000 },
  });
  provider.script({ match: { key: 'sk-slow' }, fault: { delayMs: SLOW_MS }, persistent: true });
  const agent = new Agent({ keepAlive: true });
  // Warms the processes up, because their first requests are slow.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    const asked = Array.from({ length: PROCESSES }, () =>
      sendOne(deployment, agent, { lane: 'busy', name: 'warm' }),
    );
    await Promise.all(asked);
  }
  return {
    deployment,
    guardrails,
    agent,
    async stop() {
      agent.destroy();
      await Promise.all([deployment.stop(), guardrails.close()]);
    },
  };
}

/** Ways to switch a guardrail on; each answers what makes it so, once everything up to then is prepared. */
export type SwitchOn = (site: SwitchSite) => Promise<() => Promise<number>>;

export interface SwitchOutcome {
  /** Dispatched later than a second after the 200, without having been seen by the guardrail. */
  readonly unguarded: readonly string[];
  /** Of the steady load, those that did not get 200. */
  readonly failed: readonly Sent[];
  readonly sent: number;
  /** Dispatched later than a second after the 200. */
  readonly dispatchedLate: number;
  /** Of those that waited in line, the ones that were dispatched so late. */
  readonly waitedLate: number;
  readonly waiters: readonly Sent[];
  readonly streams: readonly Sent[];
  /** What the gateways warned of meanwhile: a store that was too slow explains what is not the switch's fault. */
  readonly warnings: Readonly<Record<string, number>>;
}

export async function switchUnderLoad(site: SwitchSite, on: SwitchOn): Promise<SwitchOutcome> {
  const { deployment, agent, guardrails } = site;
  const flip = await on(site);
  const logFrom = deployment.provider.log.at(-1)?.id ?? 0;
  const load = startLoad(deployment, agent, PER_SECOND, { lane: 'busy', name: 'steady' });
  await afterMs(BEFORE_MS);
  const inLine = (name: string, streaming: boolean, count: number) =>
    Array.from({ length: count }, () => sendOne(deployment, agent, { lane: 'slow', name, streaming }));
  const waiters = inLine('waiter', false, WAITING);
  await afterMs(50);
  const streams = inLine('stream', true, 2);
  await afterMs(SLOW_MS / 2);
  const status = await flip();
  if (status !== 200) throw new Error(`the switch answered ${status}`);
  const confirmedMs = Date.now();
  await afterMs(AFTER_MS);
  const sent = await load.stop();
  const [waited, streamed] = await Promise.all([Promise.all(waiters), Promise.all(streams)]);
  const late = deployment.provider.log.filter(
    ({ id, receivedAtMs }) => id > logFrom && receivedAtMs > confirmedMs + GRACE_MS,
  );
  const asked = tagsAsked(guardrails);
  const lateTags = late.map(tagAt);
  return {
    unguarded: lateTags.filter((tag) => !asked.has(tag)),
    failed: sent.filter((each) => each.status !== 200),
    sent: sent.length,
    dispatchedLate: late.length,
    waitedLate: lateTags.filter((tag) => tag.startsWith('<waiter')).length,
    waiters: waited,
    streams: streamed,
    warnings: warningsOf(deployment),
  };
}

function warningsOf({ processes }: Deployment): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { level, msg } of processes.flatMap(({ logs }) => logs)) {
    if (level === 'warn' || level === 'error') counts[String(msg)] = (counts[String(msg)] ?? 0) + 1;
  }
  return counts;
}

const PATH = '/api/relay/guardrails';
const global = { bindings: [{ target_type: 'global' }] };

async function created({ deployment: { admin }, guardrails }: SwitchSite, mark: string): Promise<string> {
  const body = { name: `Switched ${mark}`, base_url: guardrails.urlOf('allow', mark) };
  return (await admin.create(PATH, body)).id;
}

/** By gateway: none of the others has made the change itself. */
async function put({ deployment }: SwitchSite, path: string, body: unknown): Promise<number> {
  return (await deployment.admin.call('PUT', path, body)).status;
}

export const switches: Readonly<Record<string, SwitchOn>> = {
  'is enabled': async (site) => {
    const path = `${PATH}/${await created(site, 'enabled')}`;
    await put(site, `${path}/bindings`, global);
    return () => put(site, path, { enabled: true });
  },
  'is bound': async (site) => {
    const path = `${PATH}/${await created(site, 'bound')}`;
    await put(site, path, { enabled: true });
    return () => put(site, `${path}/bindings`, global);
  },
};

/** Guardrails that were switched on and must not meet the next switch. */
export async function switchOff({ deployment: { admin } }: SwitchSite): Promise<void> {
  const { body } = await admin.call('GET', PATH);
  for (const { id } of body as { id: string }[]) await admin.call('DELETE', `${PATH}/${id}`);
}
