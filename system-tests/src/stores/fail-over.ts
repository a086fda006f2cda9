import { startPostgres } from '@relay/testbed';
import { type ProviderLog, startProviderLog, tagOf } from '../chaos/provider-log.ts';
import { ask } from '../chaos/request.ts';
import { compare, exceededMinute } from '../failover/judge.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { startRefused, startRelay } from '../harness/relay-process.ts';
import { afterMs, until } from '../harness/until.ts';
import { type SentinelSite, startSentinelSite } from './sentinel-site.ts';

const LIMITS = { minute: 60, day: 100_000 } as const;
type LaneName = keyof typeof LIMITS;
const SEND_EVERY_MS = 50;
const SERVED_MS_MAX = 30_000;
/** How long a process needs to learn of a lane, and the load continues after the old master is a replica. */
const STEADY_MS = 1_500;

/** Kills the master of Redis under load and lets it come back; then compares provider, ledger and limits. */
export async function failOverUnderLoad(settings: Readonly<Record<string, string>>) {
  const [redis, provider, postgres] = await Promise.all([
    startSentinelSite(),
    startProviderLog(),
    startPostgres(),
  ]);
  const env = { ...settings, DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const process = await startRelay({ env });
  try {
    const admin = adminClient(process.url, settings['RELAY_ADMIN_TOKEN'] ?? '');
    const dayPolicyId = await addLanes(admin, provider);
    const load = startLoad(process.url, settings['RELAY_API_TOKEN'] ?? '');
    const turned = await failOver(redis, load);
    const statuses = await load.stop();
    const result = await compare({ databaseUrl: postgres.url, provider, admin, dayPolicyId });
    const minute = (await provider.entries()).filter((entry) => tagOf(entry).startsWith('minute'));
    const wrong = { ...result, exceeded: exceededMinute(minute, LIMITS.minute) };
    const refusal = await startRefused({ env: { ...env, REDIS_URL: redis.sentinelUrl } });
    return {
      ...turned,
      wrong,
      refusal,
      figures: {
        failover_ms: turned.servedAgainMs,
        sentinel_answers: statuses,
        sentinel_lost: wrong.lost.length,
        sentinel_duplicated: wrong.duplicated.length,
        sentinel_exceeded: wrong.exceeded,
      },
    };
  } finally {
    await process.kill();
    await Promise.all([redis.stop(), provider.stop(), postgres.remove()]);
  }
}

async function addLanes(admin: AdminClient, provider: ProviderLog): Promise<string> {
  let dayPolicyId = '';
  for (const [name, limit] of Object.entries(LIMITS)) {
    const { endpointIds } = await createLane(admin, {
      name,
      endpoints: [
        { baseUrl: provider.process.baseUrl, upstreamModel: 'sim-multi', endpoint: { pacing: false } },
      ],
      lane: { default_max_wait_ms: 0 },
    });
    const limited = { scope_type: 'endpoint', scope_id: endpointIds[0], metric: 'requests' };
    const policy = { ...limited, period: name, limit_value: limit, enabled: true };
    dayPolicyId = (await admin.create('/api/relay/limit-policies', policy)).id;
  }
  // There is no event to await: a process learns of a change when it looks.
  await afterMs(STEADY_MS);
  return dayPolicyId;
}

interface Load {
  send(lane: LaneName): Promise<number>;
  stop(): Promise<Readonly<Record<string, number>>>;
}

function startLoad(url: string, token: string): Load {
  const statuses: Record<string, number> = {};
  const pending: Promise<number>[] = [];
  let sent = 0;
  async function send(lane: LaneName): Promise<number> {
    sent += 1;
    const asking = {
      tag: `${lane}-${sent}`,
      target: { token, model: lane },
      kind: 'chat',
      sim: { outputTokens: 5 },
      words: 'Count.',
      hangUpAfterMs: null,
    } as const;
    const { status } = await ask(url, asking);
    statuses[`${lane} ${status}`] = (statuses[`${lane} ${status}`] ?? 0) + 1;
    return status;
  }
  const timer = setInterval(() => pending.push(send(sent % 2 === 0 ? 'day' : 'minute')), SEND_EVERY_MS);
  return {
    send,
    async stop() {
      clearInterval(timer);
      await Promise.all(pending);
      return statuses;
    },
  };
}

async function failOver(redis: SentinelSite, load: Load) {
  const startMs = performance.now();
  const killed = await redis.failOver();
  const isServedAgain = await until(async () => (await load.send('day')) === 200, SERVED_MS_MAX, 100);
  const servedAgainMs = Math.round(performance.now() - startMs);
  await killed.start();
  const isDemoted = await redis.untilDemoted(killed);
  await afterMs(STEADY_MS);
  return { isServedAgain, servedAgainMs, isDemoted };
}
