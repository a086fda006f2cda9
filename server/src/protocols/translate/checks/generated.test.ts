import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import { isObject } from '../../../kit/json-value.ts';
import { responsesPairs } from '../from-responses/pairs.fixture.ts';
import { messagesRequests } from '../generated/messages-requests.fixture.ts';
import { chatAndMessagesPairs } from '../generated/pairs.fixture.ts';
import { roundTrip } from '../generated/round-trip.fixture.ts';
import { judge } from './generated-pair.fixture.ts';
import { changedTexts, sourceTexts } from './source-text.fixture.ts';

/** `npm run system -- translations` generates 2,000 for each pair. */
const REQUESTS = 200;

for (const pair of [...chatAndMessagesPairs, ...responsesPairs])
  describe(`generated requests of ${pair.translation.client} for ${pair.translation.provider}`, () => {
    it('are what the documentation allows, and nothing is left out without a name', () => {
      let refusals = 0;
      forAll(pair.requests, (request) => {
        const { refused, problems, unnamed } = judge(pair, request);
        refusals += refused ? 1 : 0;
        assert.deepEqual([problems, unnamed], [[], []]);
      });
      assert.ok(refusals <= REQUESTS * pair.refusedShareMax, `${refusals} were refused`);
    });
  });

for (const { translation, requests } of chatAndMessagesPairs)
  it(`a field that no table of ${translation.client} knows makes a candidate incompatible, wherever it is`, () => {
    forAll(fc.tuple(requests, fc.nat()), ([request, place]) => {
      const paths = objectPaths(request, '');
      const path = paths[place % paths.length] ?? '';
      const found = translation.request(withUnknownField(request, path, ''), 'm');
      const field = path === '' ? 'unheard_of' : `${path}.unheard_of`;
      assert.deepEqual([found.kind, found.kind === 'incompatible' && found.field], ['incompatible', field]);
    });
  });

it('requests of Messages keep on their way to chat and back every field that both can express', () => {
  forAll(messagesRequests(true), (request) => {
    const { returned, wanted } = roundTrip(request);
    assert.deepEqual(returned, wanted);
  });
});

it('what a translation does not have to understand keeps its text, in requests and both kinds of answers', () => {
  forAll(sourceTexts, (texts) => {
    assert.deepEqual(changedTexts(texts), []);
  });
});

function forAll<T>(values: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(values, holds), { numRuns: REQUESTS, seed: testSeed() });
}

/** Objects whose members are fields of the protocol: not schemas, inputs, or what is left out as a whole. */
const OPAQUE =
  /(^|\.)(input|input_schema|schema|parameters|cache_control|metadata|prompt_cache_breakpoint|prediction|citations)$/;

function objectPaths(value: unknown, path: string): readonly string[] {
  if (OPAQUE.test(path)) return [];
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => objectPaths(entry, `${path}[${index}]`));
  if (!isObject(value) || value['type'] === 'thinking' || value['type'] === 'redacted_thinking') return [];
  return [path, ...Object.entries(value).flatMap(([name, member]) => objectPaths(member, join(path, name)))];
}

function withUnknownField(value: unknown, target: string, path: string): unknown {
  if (Array.isArray(value))
    return value.map((entry: unknown, index) => withUnknownField(entry, target, `${path}[${index}]`));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    withUnknownField(member, target, join(path, name)),
  ]);
  return Object.fromEntries(path === target ? [...members, ['unheard_of', 1]] : members);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
