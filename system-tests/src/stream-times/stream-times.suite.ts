import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchScheduler } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { callClients, type SilentClient } from './clients.ts';
import {
  COMMENT,
  type End,
  framesOf,
  KEEP_ALIVES,
  type Play,
  silences,
  silentPlay,
  type Wire,
  WORDS,
} from './plays.ts';
import {
  type Candidates,
  type Direction,
  directions,
  type LaneSet,
  laneOf,
  nameOf,
  type Site,
  startSite,
} from './site.ts';
import { askTimed, type Timed } from './timed-client.ts';

// When clients see what: the provider is silent before its content, in every way it can be, and where its answer ends.

/** Longer than a stream is held. */
const SILENT_MS = 3_500;
const EVERY_MS = 500;
const HOLD_MS = 2_000;
/** What Relay may add to the provider's own first byte, to a keep-alive, and to the end of a hold. */
const LATE_MS_MAX = 100;

const figures = { streams: 0, late: 0, pings: 0, pings_lost: 0, ends: 0, client_silences: 0 };
let site: Site;

before(async () => {
  site = await startSite();
});
after(async () => {
  await site.stop();
  reportFigures(figures);
});

interface Case extends Direction {
  readonly candidates: Candidates;
  readonly name: string;
}

function ask({ client, wire, candidates, name }: Case, set: LaneSet): Promise<Timed> {
  const { url, apiToken: token } = site.deployment;
  return askTimed({ url, token, client, lane: laneOf(set, wire, candidates), name });
}

const casesOf = (what: string): Case[] =>
  directions.flatMap((direction) =>
    (['one', 'two'] as const).map((candidates) => ({
      ...direction,
      candidates,
      name: `${nameOf(direction)}, ${what}, ${candidates}`,
    })),
  );

/** A keep-alive as the client gets it: passed through, or one of its own protocol. */
function shownKeepAlives({ client, wire }: Direction, sent: string): readonly string[] {
  if (client === wire) return [sent];
  if (client === 'messages') return [KEEP_ALIVES.messages];
  return client === 'responses' ? [': ping\n\n', 'event: keepalive\n'] : [': ping\n\n'];
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
const countOf = (text: string, part: string) => text.split(part).length - 1;
const isWhole = (client: Wire, text: string) =>
  ({ chat: /data: \[DONE\]/, responses: /response\.completed/, messages: /message_stop/ })[client].test(
    text,
  ) && WORDS.every((word) => text.includes(word));

describe(`${SILENT_MS} ms without content`, () => {
  for (const silence of silences)
    it(`${silence}: nothing is late, and no keep-alive is lost`, async () => {
      using watch = watchScheduler(site.deployment.processes);
      const late: [string, number][] = [];
      const lost: string[] = [];
      await Promise.all(
        casesOf(silence).map(async (each) => {
          const done = site.provider.expect(each.name, () =>
            silentPlay(each.wire, silence, SILENT_MS, EVERY_MS),
          );
          const seen = await ask(each, 'silent');
          figures.streams += 1;
          assert.equal(seen.status, 200, each.name);
          assert.ok(isWhole(each.client, seen.text), `${each.name}: ${seen.text}`);
          assert.deepEqual(done.asked, ['first'], each.name);
          const [first] = seen.chunks;
          assert.ok(first);
          const heldMs = each.candidates === 'one' ? 0 : HOLD_MS;
          late.push([each.name, seen.headAtMs - done.headAtMs - heldMs]);
          if (silence !== 'slow head') late.push([each.name, first.atMs - done.headAtMs - heldMs]);
          const sent = silence === 'comments' ? COMMENT : KEEP_ALIVES[each.wire];
          const shown = shownKeepAlives(each, sent);
          const isAfter = seen.chunks.filter(({ text }) => shown.some((form) => text.includes(form)));
          figures.pings += done.keepAliveAtMs.length;
          const missing = done.keepAliveAtMs.length - sum(shown.map((form) => countOf(seen.text, form)));
          figures.pings_lost += missing;
          if (missing !== 0) lost.push(`${each.name}: ${missing} of ${done.keepAliveAtMs.length}`);
          // The first one ends the hold, so that each comes when it was sent.
          for (const [index, { atMs }] of isAfter.entries())
            late.push([`${each.name}, ping ${index}`, atMs - (done.keepAliveAtMs[index] ?? Number.NaN)]);
          await checkRecord(each, seen, silence === 'slow head' ? SILENT_MS / 2 : SILENT_MS);
        }),
      );
      assert.deepEqual(lost, []);
      const [worst, worstMs] = late.toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
      figures.late += late.filter(([, ms]) => ms > LATE_MS_MAX + watch.takenMs()).length;
      watch.within(LATE_MS_MAX, worstMs, worst);
    });
});

/** The time to the first token is that of the first content, not of the head or a keep-alive. */
async function checkRecord(each: Case, seen: Timed, silentMs: number): Promise<void> {
  const { state, timings, attempts } = await requestWhenLogged(site.deployment.admin, {
    requestId: seen.requestId,
  });
  assert.equal(state, 'completed', each.name);
  assert.equal(attempts.length, 1, each.name);
  const firstMs = timings.first_content_ms ?? Number.NaN;
  assert.ok(firstMs >= silentMs - 5, `${each.name}: first content after ${firstMs} ms`);
}

describe('the end of a stream', () => {
  const opened = (wire: Wire, silentMs: number, end: End): Play => ({
    headAfterMs: 0,
    steps: [
      { afterMs: 0, bytes: framesOf(wire).opening },
      { afterMs: silentMs, bytes: KEEP_ALIVES[wire], isKeepAlive: true },
    ],
    end,
  });
  const wholePlay = (wire: Wire): Play => silentPlay(wire, 'thinks first', 0, EVERY_MS);

  for (const end of ['cut', 'clean'] as const)
    it(`before content, after a keep-alive: an error of the client’s protocol, and no fallback (${end})`, async () => {
      await Promise.all(
        casesOf(`fails ${end}`).map(async (each) => {
          const done = site.provider.expect(each.name, () => opened(each.wire, EVERY_MS, end));
          const seen = await ask(each, end === 'cut' ? 'cut' : 'ended');
          figures.ends += 1;
          assert.equal(seen.status, 200, each.name);
          assert.deepEqual(done.asked, ['first'], each.name);
          assert.ok(!isWhole(each.client, seen.text));
          checkError(each.client, seen.text);
          const { state, error_code, timings } = await requestWhenLogged(site.deployment.admin, {
            requestId: seen.requestId,
          });
          const cause = end === 'cut' ? 'upstream_invalid_response' : 'ended_early';
          assert.deepEqual([state, error_code, timings.first_content_ms], ['failed', cause, null], each.name);
        }),
      );
    });

  it('before content, within the hold: the next candidate answers, if there is one', async () => {
    await Promise.all(
      casesOf('fails held')
        .filter(({ candidates }) => candidates === 'two')
        .map(async (each) => {
          const done = site.provider.expect(each.name, (endpoint) =>
            endpoint === 'first' ? { ...opened(each.wire, 0, 'cut') } : wholePlay(each.wire),
          );
          const seen = await ask(each, 'held');
          figures.ends += 1;
          assert.equal(seen.status, 200, each.name);
          assert.deepEqual(done.asked, ['first', 'second'], each.name);
          assert.ok(isWhole(each.client, seen.text), seen.text);
        }),
    );
  });

  for (const end of ['clean', 'cut'] as const)
    it(`of a chat that has its finish reason and no [DONE]: ${end === 'clean' ? 'complete' : 'interrupted'}`, async () => {
      await Promise.all(
        casesOf(`unmarked ${end}`)
          .filter(({ wire }) => wire === 'chat')
          .map(async (each) => {
            const { opening, rest } = framesOf('chat');
            const bytes = (opening + rest).replace('data: [DONE]\n\n', '');
            const done = site.provider.expect(each.name, () => ({
              headAfterMs: 0,
              steps: [{ afterMs: 0, bytes }],
              end,
            }));
            const seen = await ask(each, end === 'clean' ? 'unmarked' : 'broken');
            figures.ends += 1;
            assert.deepEqual(done.asked, ['first'], each.name);
            const { state } = await requestWhenLogged(site.deployment.admin, { requestId: seen.requestId });
            assert.equal(state, end === 'clean' ? 'completed' : 'failed', each.name);
            if (end === 'cut') checkError(each.client, seen.text);
            else if (each.client === 'chat') assert.doesNotMatch(seen.text, /error|DONE/);
            else assert.ok(isWhole(each.client, seen.text), seen.text);
          }),
      );
    });

  it('a byte order mark costs a translated stream nothing', async () => {
    await Promise.all(
      casesOf('marked').map(async (each) => {
        const { opening, rest } = framesOf(each.wire);
        // Without a preamble, the marked frame has content.
        const bytes = `\ufeff${each.wire === 'chat' ? rest : opening + rest}`;
        site.provider.expect(each.name, () => ({
          headAfterMs: 0,
          steps: [{ afterMs: 0, bytes }],
          end: 'clean',
        }));
        const seen = await ask(each, 'silent');
        figures.ends += 1;
        assert.ok(isWhole(each.client, seen.text), seen.text);
        assert.equal(seen.text.startsWith('\ufeff'), each.client === each.wire, each.name);
      }),
    );
  });
});

/** The last event is Relay's own error, in the shape that clients of the protocol read. */
function checkError(client: Wire, text: string): void {
  const last = text.trimEnd().split('\n\n').at(-1) ?? '';
  const lines = last.split('\n');
  const data = JSON.parse(lines.find((line) => line.startsWith('data: '))?.slice(6) ?? 'null');
  const names = lines.filter((line) => line.startsWith('event: '));
  const { error } = data;
  assert.equal(error.code, 'stream_interrupted', text);
  assert.ok(error.message.length > 20 && error.request_id.length > 20);
  if (client === 'chat') {
    assert.deepEqual(names, []);
    return;
  }
  assert.deepEqual(names, ['event: error']);
  assert.equal(data.type, 'error');
  if (client === 'messages') {
    assert.deepEqual([error.type, data.request_id], ['api_error', error.request_id]);
    return;
  }
  const { code, message, param, sequence_number: number } = data;
  assert.deepEqual([code, param], ['stream_interrupted', null]);
  assert.equal(message, error.message);
  const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, given]) => Number(given));
  assert.deepEqual(numbers.slice(-2), [number - 1, number], 'continues the sequence');
}

describe('published clients', () => {
  const silentMs = IS_LONG ? 330_000 : 1_500;
  it(`read through ${silentMs / 1_000} s without content but with keep-alives`, async () => {
    const { url, apiToken } = site.deployment;
    const everyMs = IS_LONG ? 15_000 : EVERY_MS;
    const run = async ({ name, wire, read }: SilentClient) => {
      site.provider.expect(name, () => silentPlay(wire, 'pings', silentMs, everyMs));
      const text = await read({ url, token: apiToken, lane: laneOf('clients', wire, 'two'), name });
      assert.equal(text, WORDS.join(''), name);
      figures.client_silences += 1;
    };
    await Promise.all(callClients.map(run));
  });

  it('raise Relay’s own error, with its words', async () => {
    const { url, apiToken } = site.deployment;
    await Promise.all(
      callClients.map(async ({ name, wire, read }) => {
        const failing = `${name}, failing`;
        const { opening, rest } = framesOf(wire);
        const upTo = rest.indexOf('\n\n') + 2;
        site.provider.expect(failing, () => ({
          headAfterMs: 0,
          steps: [{ afterMs: 0, bytes: opening + rest.slice(0, upTo) }],
          end: 'cut',
        }));
        await assert.rejects(
          read({ url, token: apiToken, lane: laneOf('failing', wire, 'one'), name: failing }),
          (error: Error) => {
            assert.match(`${error.message}${JSON.stringify(error)}`, /stream was interrupted/, failing);
            return true;
          },
        );
        figures.ends += 1;
      }),
    );
  });
});
