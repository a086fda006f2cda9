// `npm run check:translations`: every translation, judged and counted. The last line is one JSON object.
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { anySeed, runCommand, wholeNumber } from '@relay/testbed';
import { createRandom } from '@relay/testbed/random';
import fc from 'fast-check';
import { responsesPairs } from '../from-responses/pairs.fixture.ts';
import { messagesRequests } from '../generated/messages-requests.fixture.ts';
import { chatAndMessagesPairs } from '../generated/pairs.fixture.ts';
import { roundTrip } from '../generated/round-trip.fixture.ts';
import { splits, translateStream } from '../stream-case.fixture.ts';
import { type StreamGolden, streamGoldens, wholeGoldens } from './answer-goldens.fixture.ts';
import { type GeneratedPair, judge } from './generated-pair.fixture.ts';
import { meaningGoldens } from './meaning-goldens.fixture.ts';
import { type Golden, requestGoldens } from './request-goldens.fixture.ts';
import { changedTexts, sourceTexts } from './source-text.fixture.ts';

const SHOWN_MAX = 20;

const USAGE = `usage: npm run check:translations -- [--splits N] [--requests N] [--conversations N] [--seed N]
  --splits N    ways to cut each stream (1000)
  --requests N  generated requests for each translation (2000)
  --conversations N  generated conversations whose texts are compared (20000)
  --seed N      repeat the choices of an earlier run
`;

interface Options {
  readonly splits: number;
  readonly requests: number;
  readonly conversations: number;
  readonly seed: number;
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      splits: { type: 'string', default: '1000' },
      requests: { type: 'string', default: '2000' },
      conversations: { type: 'string', default: '20000' },
      seed: { type: 'string', default: anySeed() },
    },
  });
  return {
    splits: wholeNumber('--splits', values.splits),
    requests: wholeNumber('--requests', values.requests),
    conversations: wholeNumber('--conversations', values.conversations),
    seed: wholeNumber('--seed', values.seed),
  };
}

/**
 * `by_hand`: those of the cases that a person wrote. `wrong`: cases with another result, splits that change a stream, requests that the
 * provider would reject or that changed on their way. `changed`: texts of conversations that came out in another spelling.
 */
const figures = { cases: 0, by_hand: 0, splits: 0, conversations: 0, wrong: 0, unnamed: 0, changed: 0 };
let shown = 0;

function show(finding: string): void {
  shown += 1;
  if (shown <= SHOWN_MAX) process.stdout.write(`${finding}\n`);
}

function wrong(finding: string): void {
  figures.wrong += 1;
  show(finding);
}

function countCase({ name, check }: Golden): void {
  figures.cases += 1;
  try {
    check();
  } catch (error) {
    wrong(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function countSplits({ name, translation, bytes, options }: StreamGolden, chosen: Options): void {
  const uncut = translateStream(translation, [bytes], options);
  for (const pieces of splits(bytes, chosen.splits, createRandom(chosen.seed).next)) {
    figures.splits += 1;
    if (translateStream(translation, pieces, options) !== uncut)
      wrong(`${name}: cut into ${pieces.map(({ length }) => length).join(' + ')} bytes`);
  }
}

function countGenerated(pair: GeneratedPair, chosen: Options): void {
  const name = `${pair.translation.client} to ${pair.translation.provider}`;
  let refusals = 0;
  for (const request of generated(pair.requests, chosen)) {
    const check = (): void => {
      const { refused, problems, unnamed } = judge(pair, request);
      refusals += refused ? 1 : 0;
      figures.unnamed += unnamed.length;
      for (const field of unnamed) show(`${name}: left out without a name: ${field}`);
      assert.deepEqual(problems, []);
    };
    countCase({ name, check });
  }
  if (refusals > chosen.requests * pair.refusedShareMax) wrong(`${name}: ${refusals} requests were rejected`);
}

function countRoundTrip(request: unknown): void {
  const check = (): void => {
    const { returned, wanted } = roundTrip(request);
    assert.deepEqual(returned, wanted);
  };
  countCase({ name: 'messages to chat and back', check });
}

/** Requests and answers of all pairs, whole and streamed. */
function countConversations({ conversations, seed }: Options): void {
  for (const texts of fc.sample(sourceTexts, { numRuns: conversations, seed })) {
    figures.conversations += 1;
    for (const finding of changedTexts(texts)) {
      figures.changed += 1;
      show(finding);
    }
  }
}

function generated(from: fc.Arbitrary<unknown>, { requests, seed }: Options): readonly unknown[] {
  return fc.sample(from, { numRuns: requests, seed });
}

async function main(args: readonly string[]): Promise<number> {
  const chosen = readOptions(args);
  process.stdout.write(`seed ${chosen.seed}\n`);
  for (const golden of [...requestGoldens, ...meaningGoldens, ...wholeGoldens, ...streamGoldens]) {
    figures.by_hand += 1;
    countCase(golden);
  }
  for (const stream of streamGoldens) countSplits(stream, chosen);
  for (const pair of [...chatAndMessagesPairs, ...responsesPairs]) countGenerated(pair, chosen);
  for (const request of generated(messagesRequests(true), chosen)) countRoundTrip(request);
  countConversations(chosen);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return figures.wrong + figures.unnamed + figures.changed === 0 ? 0 : 1;
}

await runCommand(USAGE, main);
