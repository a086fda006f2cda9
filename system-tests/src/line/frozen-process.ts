import { readRequestLog } from '../harness/request-log.ts';
import { type Sent, sendTagged } from '../harness/tagged-request.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type Line, reasonsOf, type Site } from './site.ts';

const LEDGER_MS_MAX = 30_000;
const STREAM_FRAMES = 20;

export interface ProcessFreezeSetup {
  readonly waiters: number;
  readonly streams: number;
  readonly gateways: number;
  readonly freezeMs: number;
}

export interface ProcessFreeze {
  readonly waiting: number;
  readonly failed: number;
  readonly reasons: readonly string[];
  /** Streams that did not reach their end. */
  readonly cut: number;
  readonly exceeded: Exceeded;
  /** Requests that the provider saw and that have no row, and rows beyond the first. */
  readonly lost: number;
  readonly duplicated: number;
}

/** One process stands still, with requests that wait and streams that run, for less than any wait budget; then it works again. */
export async function freezeProcess(
  site: Site,
  { model, laneId, limit }: Line,
  pid: number,
  { waiters, streams, gateways, freezeMs }: ProcessFreezeSetup,
): Promise<ProcessFreeze> {
  const { deployment } = site;
  const urlOf = (index: number) => deployment.processes[index % gateways]?.url ?? '';
  const open = Array.from({ length: streams }, (_, index) =>
    sendTagged({
      url: urlOf(index),
      token: deployment.apiToken,
      model,
      tag: `${model}-stream-${index}`,
      stream: true,
      maxTokens: STREAM_FRAMES,
      sim: { outputTokens: STREAM_FRAMES, frameDelayMs: 200 },
    }),
  );
  const sent: Sent[] = Array.from({ length: waiters }, (_, index) =>
    site.ask({ model, tag: `${model}-${index}`, gateway: index % gateways }),
  );
  const total = waiters + streams;
  await until(
    async () => (await site.waiting(laneId)) + (await site.seen(`${model}-`)).length >= total,
    10_000,
  );
  // Only these: on a busy machine, one that has just arrived may have failed before.
  const inLine = sent.filter((each) => !each.answered());
  const streaming = open.filter((each) => !each.answered());
  process.kill(pid, 'SIGSTOP');
  await afterMs(freezeMs);
  process.kill(pid, 'SIGCONT');
  const answers = await Promise.all(inLine.map(({ answer }) => answer));
  const read = await Promise.all(streaming.map(({ answer }) => answer));
  await Promise.all(sent.map(({ answer }) => answer));
  return {
    waiting: inLine.length,
    failed: [...answers, ...read].filter(({ status }) => status !== 200).length,
    reasons: await reasonsOf([...inLine, ...streaming]),
    cut: read.filter(({ text }) => !text.includes('[DONE]')).length,
    exceeded: exceededWindows(limit, await site.seen(`${model}-`)),
    ...(await inLedger(site, model, total)),
  };
}

async function inLedger(
  { deployment }: Site,
  model: string,
  total: number,
): Promise<{ lost: number; duplicated: number }> {
  let tags: string[] = [];
  await until(
    async () => {
      const rows = await readRequestLog(deployment.admin);
      tags = rows.map((row) => row.client_request_id ?? '').filter((tag) => tag.startsWith(`${model}-`));
      return tags.length >= total;
    },
    LEDGER_MS_MAX,
    250,
  );
  const distinct = new Set(tags).size;
  return { lost: total - distinct, duplicated: tags.length - distinct };
}
