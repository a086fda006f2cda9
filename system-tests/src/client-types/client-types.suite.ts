// npm run system -- client-types
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { whyUnreadable } from './ai-sdk-reads.ts';
import { LANES } from './directions.ts';
import { type OffValue, offValues } from './judge-types.ts';
import { modelAnswers } from './model-answers.ts';
import { createPersonalityLanes, describePersonalities, personalityModels } from './personalities.ts';
import { askAll, type Got, playOf, valuesOf } from './run-situations.ts';
import { answered, broken, errors, type Situation } from './situations.ts';

// Everything that Relay sends to clients, translated and passed through, has the types of the clients' own libraries.

const ANSWERS = IS_LONG ? 120 : 16;
const BROKEN = IS_LONG ? 12 : 1;
const SHOWN = 30;

const seed = testSeed();
const answers = fc.sample(modelAnswers, { numRuns: ANSWERS, seed });
const situations: readonly Situation[] = [
  ...answers.map((answer, index) => answered(answer, `answer ${index}`)),
  ...answers.slice(0, BROKEN).flatMap((answer, index) => broken(answer, `answer ${index}`)),
  ...errors(),
];

let deployment: Deployment;

before(async () => {
  deployment = await startDeployment({
    provider: { models: ['model', ...personalityModels], play: playOf(situations) },
  });
  const { admin, provider } = deployment;
  const { baseUrl } = provider;
  const anthropic = { auth_mode: 'header_static', auth_header_name: 'x-api-key' };
  const endpoints = {
    chat: { baseUrl, upstreamModel: 'model', endpoint: { route_kind: 'chat' } },
    responses: { baseUrl, upstreamModel: 'model', endpoint: { route_kind: 'responses' } },
    messages: { baseUrl, upstreamModel: 'model', provider: anthropic, endpoint: { protocol: 'anthropic' } },
  };
  for (const [wire, endpoint] of Object.entries(endpoints))
    await createLane(admin, { name: LANES[wire as keyof typeof LANES], endpoints: [endpoint] });
  await createPersonalityLanes(admin, baseUrl);
  await deployment.everywhere();
});

after(() => deployment?.stop());

it('every answer, frame and error has the type that the client’s own library has for it', async () => {
  const got = await askAll(deployment, situations);
  const { typed, broken: unparsed } = valuesOf(got);
  const off = [...unparsed, ...offValues(typed)];
  const unread = await unreadByAiSdk(got);
  reportFigures({
    values: typed.length + unparsed.length,
    off: off.length,
    read_by_ai_sdk: got.length,
    unread: unread.length,
    seed,
  });
  assert.deepEqual({ off: shown(off), unread: unread.slice(0, SHOWN) }, { off: [], unread: [] });
  assert.ok(typed.length >= 3_000, 'the values are missing');
});

describePersonalities(() => deployment);

/** One of each kind, with how many there are. */
function shown(off: readonly OffValue[]): readonly string[] {
  const kinds = Map.groupBy(off, ({ shape, why }) => `${shape}: ${why}`);
  return [...kinds]
    .slice(0, SHOWN)
    .map(([kind, list]) => `${list.length} × ${kind}\n${list[0]?.from}\n${list[0]?.value}`);
}

async function unreadByAiSdk(list: readonly Got[]): Promise<readonly string[]> {
  const unread: string[] = [];
  for (const each of list) {
    const why = await whyUnreadable(each);
    if (why !== null) unread.push(`${each.from}: ${why}`);
  }
  return unread;
}
