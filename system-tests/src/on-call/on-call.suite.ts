import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { IS_LONG } from '@relay/testbed/long-form';
import { tagOf } from '../chaos/provider-log.ts';
import { reportFigures } from '../harness/figures.ts';
import { afterMs, until } from '../harness/until.ts';
import { pages, pagesThatExist } from './documents.ts';
import { clientIncidents } from './incidents-clients.ts';
import { postgresIncidents } from './incidents-postgres.ts';
import { processIncidents, secretIncidents } from './incidents-processes.ts';
import { providerIncidents } from './incidents-providers.ts';
import { rareIncidents } from './incidents-rare.ts';
import { redisIncidents } from './incidents-redis.ts';
import { judge } from './judge.ts';
import { shortenRules } from './shorten-rules.ts';
import { type Site, startSite } from './site.ts';

// A night on call: each row of the tables is an incident of the deployment under load. Who must tell does so in words that are right,
// no alert fires for nothing, clients are affected only as the row says, and no request is lost or counted twice.

const START_MS_MAX = 480_000;
const INCIDENT_MS_MAX = 480_000;
/** An hour of the rules is two minutes. */
const QUIET_MS = IS_LONG ? 240_000 : 40_000;
const SETTLED_MS_MAX = 90_000;
const WARNINGS_MAX = 20;

const incidents = [
  ...postgresIncidents,
  ...redisIncidents,
  ...providerIncidents,
  ...processIncidents,
  ...secretIncidents,
  ...clientIncidents,
  ...rareIncidents,
];

const figures = {
  incidents: 0,
  silent: 0,
  false_alarms: 0,
  wrong_advice: 0,
  lost: 0,
  doubled: 0,
  not_healed: 0,
};
let site: Site;

describe('the tables', () => {
  it('the rules are the shipped ones with shorter times, and nothing else', () => {
    const shipped = readFileSync(join(import.meta.dirname, '../../../deploy/prometheus/rules.yaml'), 'utf8');
    const withoutTimes = (text: string) =>
      text.replaceAll(/(?<=\[|for: )\d+[smh]\b/g, 'T').replaceAll(/(?<=_seconds\)? > )[\d.]+/g, 'N');
    assert.equal(withoutTimes(shortenRules(shipped)), withoutTimes(shipped));
    assert.match(shortenRules(shipped), /\[10s\]/);
  });

  it('every page for operators is followed in an incident, or says why not', () => {
    assert.deepEqual(Object.keys(pages).sort(), pagesThatExist().sort());
    const names = new Set(incidents.map(({ name }) => name));
    const followed = Object.values(pages).flatMap((each) => ('reason' in each ? [] : each));
    const unknown = followed.filter((name) => !names.has(name));
    assert.deepEqual([unknown, names.size], [[], incidents.length]);
  });
});

describe('on call', () => {
  before(
    async () => {
      site = await startSite();
    },
    { timeout: START_MS_MAX },
  );
  after(async () => {
    reportFigures(figures);
    await site?.stop();
  });

  it('a quiet deployment fires no alert', { timeout: INCIDENT_MS_MAX + QUIET_MS }, async () => {
    const fired = new Set<string>();
    // A busy machine adds time by itself.
    const isOfMachine = (name: string) => /^Relay(?:Overhead\w+|EventLoopDelay)$/.test(name);
    const endMs = performance.now() + QUIET_MS;
    while (performance.now() < endMs) {
      for (const name of await site.prometheus.firing()) if (!isOfMachine(name)) fired.add(name);
      await afterMs(1_000);
    }
    figures.false_alarms += fired.size;
    const failed = site.load.served.filter(({ code }) => code !== null);
    assert.deepEqual([[...fired], failed], [[], []]);
  });

  for (const incident of incidents)
    it(incident.name, { timeout: INCIDENT_MS_MAX }, async (test) => {
      const verdict = await judge(site, incident);
      figures.incidents += 1;
      figures.silent += Number(verdict.silent.length > 0);
      figures.false_alarms += verdict.falseAlarms.length;
      figures.wrong_advice += Number(verdict.wrongAdvice.length > 0);
      figures.not_healed += Number(verdict.notHealed.length > 0);
      const { toldMs, healedMs, warnings, ...judged } = verdict;
      test.diagnostic(`told in ${toldMs} ms, well after ${healedMs} ms`);
      const well = { silent: [], falseAlarms: [], wrongAdvice: [], surprises: {}, notHealed: [] };
      if (!isDeepStrictEqual(judged, well))
        for (const line of warnings.slice(0, WARNINGS_MAX)) test.diagnostic(line);
      assert.deepEqual(judged, well);
    });

  it('the ledger has every request that the provider saw, once', { timeout: INCIDENT_MS_MAX }, async () => {
    await site.load.stop();
    const seen = new Set((await site.provider.entries()).map(tagOf).filter((tag) => tag !== ''));
    let tags: string[] = [];
    const lost = () => {
      const written = new Set(tags);
      return [...seen].filter((tag) => !written.has(tag));
    };
    await until(
      async () => {
        tags = (await site.ledger.rows()).map(({ tag }) => tag);
        return lost().length === 0;
      },
      SETTLED_MS_MAX,
      1_000,
    );
    // What the load sent has its tag as the client's own ID.
    const missing = lost().filter((tag) => site.load.served.some((each) => each.tag === tag));
    const doubled = [...Map.groupBy(tags, (tag) => tag)].filter(
      ([tag, rows]) => seen.has(tag) && rows.length > 1,
    );
    figures.lost = missing.length;
    figures.doubled = doubled.length;
    assert.deepEqual([missing.slice(0, 10), doubled.map(([tag]) => tag).slice(0, 10)], [[], []]);
    assert.ok(seen.size > 500, `only ${seen.size} requests`);
  });
});
