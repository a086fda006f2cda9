import { entryIn } from '../../kit/entry-in.ts';
import type { SetAside } from '../../kit/set-aside.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import type { AdmissionEngine, LineListener } from '../engine.ts';
import { encodeBatch } from './batch.ts';
import { createBatches } from './batches.ts';
import { createEpochs, type EpochDeps } from './epochs.ts';
import { createFencedScripts } from './fenced-scripts.ts';
import { createLineCalls } from './line-calls.ts';
import { createLineReplies } from './line-replies.ts';
import { mendLines } from './mend-lines.ts';
import { createPlainCalls } from './plain-calls.ts';
import type { Scripts } from './scripts.ts';
import { createShapes } from './shapes.ts';
import { createStoreClock } from './store-clock.ts';
import { createWakes } from './wakes.ts';

export interface RedisEngineDeps {
  readonly scripts: Scripts;
  readonly gatewayId: string;
  readonly line: LineListener;
  readonly aside: Pick<SetAside, 'note'>;
  /** Without it, whatever Redis holds is believed. */
  readonly epochs?: EpochDeps;
  /** For tests; otherwise Redis's own clock decides. */
  readonly nowMs?: () => number;
  /** For tests: whether the next batch has to go through all rules, even if it is the common case. */
  readonly inFull?: () => boolean;
}

/** The rules of the memory engine; each call is one atomic script in the organization's slot. */
export function createRedisEngine(deps: RedisEngineDeps): AdmissionEngine {
  const { gatewayId, aside, nowMs, inFull = () => false } = deps;
  const epochs = deps.epochs === undefined ? null : createEpochs(deps.epochs, deps.scripts);
  const scripts = epochs === null ? deps.scripts : createFencedScripts(deps.scripts, epochs);
  const time = () => (nowMs === undefined ? '' : String(nowMs()));
  const prefixFor = rememberPrefixes();
  const shapeOf = createShapes();
  const storeClock = createStoreClock(nowMs);
  /** How old a reply is by now: no more than its call took, and by the store's clock often much less. */
  const ageOf = (storeMs: number, tookMs: number) => Math.min(storeClock.agoMs(storeMs), tookMs);
  const replies = createLineReplies(deps.line, prefixFor);
  const calls = { scripts, time, prefixFor };
  const mended = mendLines({ scripts, time, aside, dropped: replies.missed });
  const plain = createPlainCalls(calls);
  const wakes = createWakes({
    hear: scripts.hear,
    gatewayId,
    storeClock,
    onRelease: replies.released,
    onMissed: replies.missed,
  });
  const batches = createBatches({
    encode: (batch) => encodeBatch(batch, { time: time(), gatewayId, full: inFull() }),
    send: (prefix, { args, organizationIds }) => mended.run('batch', prefix, organizationIds, args),
    onReply(reply, batch, tookMs) {
      storeClock.told(reply.nowMs, tookMs);
      return replies.answered(batch, reply, ageOf(reply.nowMs, tookMs));
    },
    onFailure(prefix, batch) {
      replies.failed(batch);
      replies.missed(prefix);
    },
  });

  return {
    admit(ask) {
      const prefix = prefixFor(ask.organizationId);
      const send = () => batches.ask(prefix, ask, shapeOf(ask));
      const start = () => {
        replies.asks(ask.operationId);
        return wakes.before(prefix, ask.waitMsMax > 0)?.then(send) ?? send();
      };
      return epochs?.before(prefix)?.then(start) ?? start();
    },
    settle: (ask) => batches.settle(prefixFor(ask.organizationId), ask),
    void: (organizationId, operationId) =>
      batches.void(prefixFor(organizationId), organizationId, operationId),
    ...createLineCalls({ ...calls, mended, aside, gatewayId, storeClock, replies, ageOf }),
    ...plain,
    // What is not rebuilt yet would show as unused.
    usage(organizationId, limits) {
      const read = () => plain.usage(organizationId, limits);
      return epochs?.before(prefixFor(organizationId))?.then(read) ?? read();
    },
  };
}

/** Hashing costs more than a lookup; the organizations that a process serves bound the map. */
function rememberPrefixes(): (organizationId: string) => string {
  const prefixes = new Map<string, string>();
  return (organizationId) => entryIn(prefixes, organizationId, prefixOf);
}
