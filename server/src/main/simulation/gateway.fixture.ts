import { allScopes } from '@relay/contract';
import { type AdmissionDesk, createDesk } from '../../admission/desk.ts';
import { createEndpointHealth } from '../../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../../admission/health/health-store.ts';
import { relayTo } from '../../admission/line.ts';
import { createLocalCooldowns } from '../../admission/local-cooldowns.ts';
import type { Caller } from '../../domain/caller.ts';
import { createBodyMemory } from '../../http/body-memory.ts';
import { watchSilence } from '../../inference/dispatch/provider-silence.ts';
import { createInferenceHandler } from '../../inference/handler.ts';
import { createTypicalUse } from '../../inference/settle/typical-use.ts';
import { DeadlineWheel } from '../../kit/deadline-wheel.ts';
import { createFairSlices } from '../../kit/fair-slices.ts';
import { createOneAtATime } from '../../kit/one-at-a-time.ts';
import { createShares } from '../../kit/shares.ts';
import { createStreamJournal } from '../../metering/journal/index.ts';
import { createSendUsage, createUsageStream } from '../../metering/usage-stream.ts';
import { createUpstreamAuth } from '../../protocols/upstream-auth/create-upstream-auth.ts';
import type { Redis } from '../../store/redis/redis.ts';
import type { Deployment } from './deployment.fixture.ts';
import { epochParts, prefixesOf } from './epoch-parts.fixture.ts';
import { COMMAND_TIMEOUT_MS, createLink, STATEMENT_TIMEOUT_MS } from './network.fixture.ts';
import type { SimGateway } from './processes.fixture.ts';
import { createStoreClient } from './remote-engine.fixture.ts';

const JOURNAL_BYTES = 1_000_000;

/** `machine`: its disk survives the process. */
export function startGateway(deployment: Deployment, machine: string, name: string): SimGateway {
  const { time, random, store, ledger, provider, log } = deployment;
  const process = time.startProcess(name, deployment.skewMs());
  return time.actAs(process, () => {
    const { clock } = process;
    const common = { time, random, process };
    const links = {
      store: createLink({ ...common, server: store.server, timeoutMs: COMMAND_TIMEOUT_MS, inOrder: true }),
      ledger: createLink({
        ...common,
        server: ledger.server,
        timeoutMs: STATEMENT_TIMEOUT_MS,
        inOrder: false,
      }),
    };
    const client = createStoreClient({
      store,
      link: links.store,
      line: relayTo(() => desk),
      owners: deployment.owners,
      epochs: epochParts(deployment, links.ledger, (restarted) => desk.shardRestarted(restarted)),
      prefixes: prefixesOf(deployment),
      onAsk: deployment.judge.asked,
      onAnswer: deployment.judge.answered,
    });
    const redis = client.redis as Redis;
    const send = createSendUsage(redis);
    const journal = createStreamJournal({
      directory: `/spool/${machine}`,
      bytesMax: JOURNAL_BYTES,
      ownerId: deployment.newId(clock.nowMs()),
      settle: client.engine.settle,
      send,
      clock,
      log,
    });
    const usage = createUsageStream({ send, keep: journal.record, recordsMax: 1_000, log });
    const desk: AdmissionDesk = createDesk({
      engine: client.engine,
      local: createLocalCooldowns({ clock, channel: { announce: nothing, subscribe: nothing } }),
      append: usage.append,
      journal,
      openings: (organizationId, limits) =>
        links.ledger.call('openings', () => ledger.openings(organizationId, limits, clock.nowMs())),
      posted: (requestIds) => links.ledger.call('posted', () => ledger.posted(requestIds)),
      clock,
      log,
    });
    const callers = new Map<string, Caller>();
    const egress = provider.egress();
    const handler = createInferenceHandler({
      tracer: null,
      authenticate: ({ headers }) => known(callers, headers['user-agent'] ?? ''),
      snapshotOf: (organizationId) => known(deployment.snapshots, organizationId),
      desk,
      health: createEndpointHealth({ store: createMemoryHealthStore({ clock }), clock, log }),
      egress,
      upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
      waitersMax: 30,
      waitingPlaces: createShares(1_000),
      clock,
      log,
      newest: { prepare: nothing, of: (same) => same, held: (same) => same },
      askGuardrail: () => Promise.reject(new Error('no guardrails here')),
      slices: createFairSlices(clock, 1),
      decoding: createOneAtATime(),
      typicalUse: createTypicalUse(clock),
      bodyBytesMax: 100_000,
      bodyMemory: createBodyMemory({ bytesMax: 1_000_000, shared: true }),
      bodyPace: null,
      attemptsMax: 3,
      publicUrl: 'https://relay.example.com',
      draining: () => false,
      open: new Set(),
      deadlines: new DeadlineWheel(clock),
      headersTimeoutMs: 5_000,
      idleTimeoutMs: 5_000,
      silence: watchSilence(clock),
    });
    desk.start();
    journal.start();
    return {
      process,
      links,
      client,
      desk,
      serve(requestId, organizationId, connection) {
        callers.set(requestId, callerOf(organizationId, random.pick(['key1', 'key2'])));
        connection.response.once('close', () => void callers.delete(requestId));
        handler(connection.request, connection.response, requestId);
        connection.send();
      },
    };
  });
}

function callerOf(organizationId: string, keyId: string): Caller {
  return {
    organizationId,
    userId: 'anne',
    keyId,
    sessionId: null,
    kind: 'user_key',
    scopes: new Set(allScopes),
    access: { granted: null, permissions: new Set(allScopes), plan: 'self_hosted' },
    keyPolicies: [],
  };
}

function known<T>(map: ReadonlyMap<string, T>, key: string): T {
  const found = map.get(key);
  if (found === undefined) throw new RangeError(`nothing is known of ${key}`);
  return found;
}

function nothing(): undefined {
  return undefined;
}
