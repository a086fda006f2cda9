import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { backlogs } from '../harness/live-state.ts';
import { isUsageFile } from '../harness/spooled-in.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Answers, collectAnswers, type Shown } from './answers.ts';
import { inferenceTraffic, keyEchoes, refusedTraffic } from './inference-traffic.ts';
import { addStranger, readEverything, type Stranger, writeSecrets } from './management-traffic.ts';
import { filePlaces, type Place, postgresPlaces, processPlaces, redisPlaces } from './places.ts';
import { LANES, type Site, startSite } from './site.ts';

// Relay stores no prompts, responses, keys or credentials. Each is a unique string, so finding it anywhere proves
// a leak.

const LEDGER_MS_MAX = 30_000;
const AT_ONCE = 4;
const SHOWN_MAX = 30;

let site: Site;
let answers: Answers;
let stranger: Stranger;
let places = 0;
const found: string[] = [];

before(async () => {
  site = await startSite();
  answers = collectAnswers(site);
  stranger = await addStranger(site);
});
after(async () => {
  reportFigures({
    places,
    found: found.length,
    canaries: site.canaries.all().length,
    answers: answers.shown.length,
    // The provider's own text reaches the client, even when it repeats the provider's key.
    credentials_passed_on: credentialsPassedOn(),
  });
  await site.stop();
});

/** Searches for all canaries, except those allowed in that place. */
function search(list: readonly Place[], mayShow: (label: string) => boolean = () => false): string[] {
  places += list.length;
  const seen = list.flatMap((place) =>
    site.canaries
      .foundIn(place.bytes())
      .filter((label) => !mayShow(label))
      .map((label) => `${label} in ${place.name}`),
  );
  const each = [...new Set(seen)];
  found.push(...each);
  // As many as are of use to a reader.
  return each.slice(0, SHOWN_MAX);
}

async function inferAll(lanes: readonly string[]): Promise<void> {
  const todo = inferenceTraffic(site, lanes);
  async function client(): Promise<void> {
    for (let next = todo.shift(); next !== undefined; next = todo.shift())
      await answers.infer('the asker', next);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
}

/** Usage on disk; the folder also names its deployment. */
function spooledPlaces(): ReturnType<typeof filePlaces> {
  return filePlaces('spool', site.spool).filter(({ name }) => isUsageFile(name));
}

/** A request that no parser takes, with a key in it. */
function sendUnreadable(): Promise<void> {
  const { hostname, port } = new URL(site.inferenceUrl);
  const key = site.canaries.plant('a key in a request that cannot be read');
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
    socket.end(`POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer ${key}\r\n${key}\r\n\r\n`);
  });
}

describe('what was said, and what opens doors', () => {
  it('goes through in every way there is to fail or not', async () => {
    await inferAll(Object.values(LANES));
    for (const exchange of refusedTraffic(site)) await answers.infer('the asker', exchange);
    for (const { rules, exchange } of keyEchoes(site)) {
      site.provider.script(...rules);
      await answers.infer('the asker of a talkative provider', exchange);
      site.provider.reset();
    }
    await sendUnreadable();
    await writeSecrets(site, answers);
    const byStatus = Map.groupBy(answers.shown, ({ status }) => status);
    for (const status of [200, 201, 400, 401, 413, 502])
      assert.ok(byStatus.has(status), `nothing was answered with ${status}`);
  });

  it('is not in the spool while Redis is away', async () => {
    await site.redis.stop();
    await inferAll([LANES.unlimited]);
    const spooled = spooledPlaces();
    const bytes = spooled.reduce((sum, place) => sum + place.bytes().length, 0);
    const seen = search(spooled);
    await site.redis.start();
    await site.watch.open();
    assert.ok(bytes > 0, 'nothing was spooled');
    assert.deepEqual(seen, []);
  });

  it('is not shown to others, and credentials not even to those who use them', async () => {
    const ready = await until(
      async () => (await backlogs(site.redis.port)).length === 0 && spooledPlaces().length === 0,
      LEDGER_MS_MAX,
      200,
    );
    assert.ok(ready, 'the ledger is not complete');
    // What the reads are made from is written every second.
    await afterMs(1_100);
    await readEverything(site, answers, stranger);
    const shownTo = (...whom: string[]) => answers.shown.filter(({ to }) => whom.includes(to)).map(placeOf);
    assert.deepEqual(search(shownTo('a stranger', 'anybody')), []);
    // A client may read its own text again, and the creator of a secret sees it once.
    assert.deepEqual(search(shownTo('the asker'), isOwnWords), []);
    assert.deepEqual(search(shownTo('the operator', 'a browser'), isShownOnce), []);
  });

  it('is not in what the processes wrote', () => {
    assert.deepEqual(search(processPlaces(site)), []);
  });

  it('is not in Redis', async () => {
    assert.deepEqual(search(await redisPlaces(site)), []);
  });

  it('is not in PostgreSQL', async () => {
    assert.deepEqual(search(await postgresPlaces(site)), []);
  });
});

function credentialsPassedOn(): number {
  const told = answers.shown.filter(({ to }) => to === 'the asker of a talkative provider');
  return told.filter(({ bytes }) => !site.canaries.foundIn(bytes).every(isOwnWords)).length;
}

function placeOf({ to, what, bytes }: Shown): Place {
  return { name: `what ${to} was answered to ${what}`, bytes: () => bytes };
}

function isOwnWords(label: string): boolean {
  return !/credential|RELAY_/.test(label);
}

function isShownOnce(label: string): boolean {
  return /^(a new key|the token of an invitation|the cookie of a session|the secret of a second factor)$/.test(
    label,
  );
}
