import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readError } from '@relay/contract/client';
import { ApiError } from '../errors/api-error.ts';
import { type FollowState, followEvents } from './follow-events.ts';

/** Plays one connection after another, and aborts after the last. */
async function follow(connections: readonly (readonly string[] | Error)[]) {
  const stopping = new AbortController();
  const seen = {
    asked: [] as (string | null)[],
    data: [] as string[],
    states: [] as FollowState[],
    beginnings: 0,
    pausesMs: [] as number[],
  };
  let next = 0;
  await followEvents({
    async open(lastId) {
      seen.asked.push(lastId);
      const connection = connections[next];
      next += 1;
      if (connection === undefined) stopping.abort();
      if (connection instanceof Error) throw connection;
      return streamOf(connection ?? []);
    },
    onState: (state) => seen.states.push(state),
    onBeginning: () => {
      seen.beginnings += 1;
    },
    onEvents: (data) => seen.data.push(...data),
    signal: stopping.signal,
    pause: async (ms) => void seen.pausesMs.push(ms),
    random: () => 1,
  });
  return seen;
}

function streamOf(texts: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

function refused(status: number): ApiError {
  const response = readError({ status, headers: new Headers() }, '{"error":{"message":"no"}}');
  assert.ok(response);
  return new ApiError(response);
}

test('a broken connection resumes after the last event', async () => {
  const seen = await follow([
    ['id: a\ndata: 1\n\nid: b\nda', 'ta: 2\n\n'],
    new Error('gone'),
    ['id: c\ndata: 3\n\n'],
  ]);
  assert.deepEqual(seen.asked, [null, 'b', 'b', 'c']);
  assert.deepEqual(seen.data, ['1', '2', '3']);
  assert.equal(seen.beginnings, 1);
});

test('an event without an ID is delivered, and is not a point to resume from', async () => {
  const seen = await follow([['id: a\ndata: 1\n\n', 'data: 2\n\n']]);
  assert.deepEqual(seen.data, ['1', '2']);
  assert.equal(seen.asked[1], 'a');
});

test('when the server no longer has the last event, the stream restarts and reports it', async () => {
  const seen = await follow([['id: a\ndata: 1\n\n'], refused(400), []]);
  assert.deepEqual(seen.asked, [null, 'a', null, null]);
  assert.equal(seen.beginnings, 3);
});

test('backoff grows to a maximum and resets after a successful connection', async () => {
  const seen = await follow([...Array.from({ length: 8 }, () => new Error('gone')), []]);
  assert.deepEqual(seen.pausesMs.slice(0, 8), [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  assert.equal(seen.pausesMs[8], 500);
});

test('a final rejection stops the stream; too many streams do not', async () => {
  const seen = await follow([refused(429), refused(403)]);
  assert.deepEqual(seen.states, ['connecting', 'reconnecting', 'failed']);
});

test('a connection that is silent for 40 seconds is given up and made again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopping = new AbortController();
  const live = Promise.withResolvers<void>();
  const states: FollowState[] = [];
  const following = followEvents({
    open: async (_lastId, signal) =>
      new ReadableStream({
        start: (controller) =>
          signal.addEventListener('abort', () => controller.error(new Error('given up'))),
      }),
    onState(state) {
      states.push(state);
      if (state === 'live') live.resolve();
    },
    onBeginning: () => undefined,
    onEvents: () => undefined,
    signal: stopping.signal,
    pause: async () => stopping.abort(),
    random: () => 1,
  });
  await live.promise;
  t.mock.timers.tick(39_999);
  assert.deepEqual(states, ['connecting', 'live']);
  t.mock.timers.tick(1);
  await following;
  assert.deepEqual(states, ['connecting', 'live', 'reconnecting']);
});
