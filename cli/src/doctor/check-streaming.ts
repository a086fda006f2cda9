import { milliseconds } from '../output/cells.ts';
import { type Check, type Finding, fail, note, ok } from './finding.ts';

const TOKENS_MAX = 64;
const ANSWER_MS_MAX = 60_000;
/** A response that is over sooner does not show whether it was held back. */
const TELLING_MS = 250;
/** Held back: the frames fill less than this share of the time that the response took. */
const SHARE_MIN = 0.1;

export interface Arrivals {
  /** When parts of the response arrived, in milliseconds since the request was sent. */
  readonly atMs: readonly number[];
  readonly frames: number;
}

/** A small streamed request through everything between here and Relay: a proxy that buffers delivers all frames together. */
export function checkStreaming(model: string): Check {
  return async ({ api, surroundings }) => {
    const startMs = surroundings.nowMs();
    const response = await api.stream('inference', '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Count from one to thirty, in words.' }],
        max_tokens: TOKENS_MAX,
        stream: true,
      }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const atMs: number[] = [];
    let text = '';
    for await (const chunk of response.body ?? []) {
      atMs.push(surroundings.nowMs() - startMs);
      text += Buffer.from(chunk).toString('latin1');
    }
    return [judgeArrivals({ atMs, frames: text.match(/^data:/gm)?.length ?? 0 }, api.connection.server)];
  };
}

export function judgeArrivals({ atMs, frames }: Arrivals, server: string): Finding {
  const lastMs = atMs.at(-1) ?? 0;
  const spanMs = lastMs - (atMs[0] ?? 0);
  if (spanMs >= lastMs * SHARE_MIN && atMs.length > 1)
    return ok(
      'streaming',
      `Streams arrive without buffering: ${frames} frames over ${milliseconds(spanMs)}.`,
    );
  if (lastMs < TELLING_MS || frames < 5)
    return note(
      'streaming',
      `The response took only ${milliseconds(lastMs)}, too short to tell whether a proxy buffers it.`,
      'Run it again with a slower model.',
    );
  return fail(
    'streaming',
    `A proxy in front of Relay buffers responses: all ${frames} frames arrived together after ${milliseconds(lastMs)}.`,
    `Turn off response buffering and compression for ${server}/v1. nginx: \`proxy_buffering off;\` and \`gzip off;\``,
  );
}
