import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { positive, say } from './command-line.ts';
import { LANE, startUpstream } from './gateways/gateway.ts';
import { startRelay } from './gateways/relay.ts';
import { requestBytes } from './load/client-connection.ts';
import { type OfferedSlice, offerLoad } from './load/offered-load.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { rssMib } from './process-memory.ts';
import { smallBody } from './request-bodies.ts';
import { median, percentile, rounded } from './statistics.ts';

export const OVERLOAD_USAGE = `overload: throughput at ten times a limit, and how quickly the rest is rejected
  --per-second N   the limit (100)
  --times N        load, as a multiple of the limit (10)
  --slices N       rounds (5)
  --slice-ms N     length of a slice (6000)`;

/** The line is this long at most, so what is refused is refused because the line is full. */
const WAIT_MS = 1_000;
/** The windows of the slice before are empty again. */
const REST_MS = 2_500;

/** Open-loop load at the limit and at a multiple of it, in turns. */
export async function overload(args: readonly string[]): Promise<unknown> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'per-second': { type: 'string', default: '100' },
      times: { type: 'string', default: '10' },
      slices: { type: 'string', default: '5' },
      'slice-ms': { type: 'string', default: '6000' },
    },
  });
  const perSecond = positive('--per-second', values['per-second']);
  const times = positive('--times', values.times);
  const slices = positive('--slices', values.slices);
  const sliceMs = positive('--slice-ms', values['slice-ms']);
  pinToLoadCore();
  const upstream = await startUpstream();
  try {
    const setup = { candidates: 1, limited: false, lane: { waitMs: WAIT_MS, requestsPerSecond: perSecond } };
    const gateway = await startRelay(upstream.url, { setup });
    try {
      const request = requestBytes(gateway.port, gateway.headers, smallBody(LANE));
      const offer = async (rate: number) => {
        const slice = await offerLoad({ port: gateway.port, request, perSecond: rate, sliceMs });
        say(
          `  ${rate} per second: ${JSON.stringify(slice.statuses)}, rejected p99 ${p99(slice.refusedMs)} ms`,
        );
        await sleep(REST_MS);
        return slice;
      };
      await offer(perSecond);
      const rounds: { once: OfferedSlice; more: OfferedSlice }[] = [];
      for (let round = 0; round < slices; round += 1)
        rounds.push({ once: await offer(perSecond), more: await offer(perSecond * times) });
      return { ...figuresOf(rounds), rss_mb: rounded(rssMib(gateway.pid), 0) };
    } finally {
      await gateway.stop();
    }
  } finally {
    await upstream.stop();
  }
}

function figuresOf(rounds: readonly { once: OfferedSlice; more: OfferedSlice }[]) {
  const ratios = rounds.map(({ once, more }) => more.served / once.served);
  const refused = rounds.flatMap(({ more }) => more.refusedMs);
  return {
    goodput_ratio: rounded(median(ratios), 3),
    goodput_ratio_min: rounded(Math.min(...ratios), 3),
    refusal_p99_ms: p99(refused),
    refusal_p50_ms: refused.length === 0 ? null : rounded(median(refused), 1),
    served: rounds.reduce((sum, { more }) => sum + more.served, 0),
    refused: refused.length,
  };
}

function p99(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(percentile(values, 0.99), 1);
}
