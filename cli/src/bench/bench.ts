import { countWords } from '@relay/contract/words';
import { Command, type OptionValues } from 'commander';
import { ApiError } from '../api/api-error.ts';
import { type Api, connect } from '../api/client.ts';
import { laneName } from '../api/lane-name.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count, milliseconds } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { startBar } from '../output/progress.ts';
import { withConnection } from '../session/connection.ts';

const REQUESTS_MAX = 1_000;
const CONCURRENCY_MAX = 50;
const SECONDS_MAX = 120;
const ANSWER_TOKENS_MAX = 16;

interface Outcome {
  readonly ms: number;
  readonly overheadMs: number | null;
  readonly waitMs: number | null;
  readonly error: string | null;
}

export function benchCommand(surroundings: Surroundings): Command {
  const command = new Command('bench')
    .description('Send a small load through a lane and measure latency. The provider may bill the requests')
    .argument('[lane]', 'lane or model (default: the only lane)')
    .option(
      '--requests <number>',
      `number of requests (at most ${countWords(REQUESTS_MAX)})`,
      upTo(REQUESTS_MAX),
      20,
    )
    .option(
      '--concurrency <number>',
      `concurrent requests (at most ${CONCURRENCY_MAX})`,
      upTo(CONCURRENCY_MAX),
      4,
    )
    .option('--seconds <number>', `time limit in seconds (at most ${SECONDS_MAX})`, upTo(SECONDS_MAX), 30)
    .option('-y, --yes', 'skip the confirmation');
  return withOutput(withConnection(command)).action((lane: string | undefined, options: OptionValues) =>
    bench(surroundings, lane, options),
  );
}

async function bench(
  surroundings: Surroundings,
  typed: string | undefined,
  options: OptionValues,
): Promise<void> {
  const requests = Number(options['requests']);
  const api = await connect(surroundings, options);
  const lane = await laneName(api, typed);
  await askFirst(
    surroundings,
    options,
    `Send ${count(requests, 'request')} through ${lane}? The provider may bill them.`,
  );
  const startMs = performance.now();
  const outcomes = await load(surroundings, api, lane, options);
  const seconds = (performance.now() - startMs) / 1_000;
  const good = outcomes.filter(({ error }) => error === null);
  const times = good.map(({ ms }) => ms);
  const overheads = good.flatMap(({ overheadMs }) => (overheadMs === null ? [] : [overheadMs]));
  const waits = good.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs]));
  const result = {
    lane,
    requests: outcomes.length,
    ok: good.length,
    failed: outcomes.length - good.length,
    seconds: round(seconds),
    requests_per_second: round(outcomes.length / seconds),
    latency_ms_p50: quantile(times, 0.5),
    latency_ms_p95: quantile(times, 0.95),
    latency_ms_max: quantile(times, 1),
    relay_overhead_ms_p50: quantile(overheads, 0.5),
    wait_ms_p95: quantile(waits, 0.95),
    errors: countErrors(outcomes),
  };
  await printObject(surroundings, options, result, (shown) => [
    ['lane', shown.lane],
    ['requests', `${shown.requests} in ${milliseconds(shown.seconds * 1_000)}, ${shown.failed} failed`],
    ['rate', `${shown.requests_per_second} per second`],
    [
      'latency',
      `p50 ${milliseconds(shown.latency_ms_p50)}, p95 ${milliseconds(shown.latency_ms_p95)}, max ${milliseconds(shown.latency_ms_max)}`,
    ],
    ['gateway overhead', `p50 ${shown.relay_overhead_ms_p50 ?? '-'} ms`],
    ['waited', `p95 ${milliseconds(shown.wait_ms_p95)}`],
    [
      'errors',
      Object.entries(shown.errors)
        .map(([code, times]) => `${times} × ${code}`)
        .join(', ') || 'none',
    ],
  ]);
  if (good.length === 0)
    throw new ProgramError('All requests failed.', exitCodes.error, {
      fix: `Run: \`relay explain ${lane}\``,
    });
}

async function askFirst(surroundings: Surroundings, { yes }: OptionValues, question: string): Promise<void> {
  if (yes === true) return;
  if (!canAsk(surroundings)) throw usageError('Sending a load requires confirmation.', 'Add --yes.');
  if (!(await confirm(surroundings, question))) throw new ProgramError('No requests sent.');
}

/** Bounded in number, time and concurrency. */
async function load(
  surroundings: Surroundings,
  api: Api,
  lane: string,
  options: OptionValues,
): Promise<Outcome[]> {
  const requests = Number(options['requests']);
  const outcomes: Outcome[] = [];
  const bar = startBar(surroundings, 'sending', requests);
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(), Number(options['seconds']) * 1_000);
  const forget = surroundings.onInterrupt(() => stopping.abort());
  let sent = 0;
  async function work(): Promise<void> {
    while (sent < requests && !stopping.signal.aborted) {
      sent += 1;
      const outcome = await sendOne(api, lane, stopping.signal);
      if (outcome === null) return;
      outcomes.push(outcome);
      bar.advance(outcomes.length);
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(requests, Number(options['concurrency'])) }, work));
  } finally {
    clearTimeout(timer);
    forget();
    bar.end();
  }
  return outcomes;
}

/** Null when the time ran out first. An error that affects every request ends the command. */
async function sendOne(api: Api, lane: string, signal: AbortSignal): Promise<Outcome | null> {
  const startMs = performance.now();
  try {
    const response = await api.stream('inference', '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: lane,
        messages: [{ role: 'user', content: 'Say hello.' }],
        max_tokens: ANSWER_TOKENS_MAX,
      }),
      signal,
      isQuiet: true,
    });
    await response.arrayBuffer();
    const header = (name: string) => {
      const value = response.headers.get(name);
      return value === null ? null : Number(value);
    };
    return {
      ms: performance.now() - startMs,
      overheadMs: header('x-relay-overhead-ms'),
      waitMs: header('x-relay-wait-ms'),
      error: null,
    };
  } catch (error) {
    if (signal.aborted) return null;
    const isOfServer =
      error instanceof ApiError && error.exitCode !== exitCodes.auth && error.exitCode !== exitCodes.notFound;
    if (!isOfServer) throw error;
    return { ms: performance.now() - startMs, overheadMs: null, waitMs: null, error: error.code };
  }
}

function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  return found === undefined ? null : round(found);
}

function countErrors(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { error } of outcomes) if (error !== null) counts[error] = (counts[error] ?? 0) + 1;
  return counts;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
    throw usageError(`"${text}" is not a number from 1 to ${countWords(most)}.`);
  };
}
