import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FaultName, faultNames } from './fault.ts';
import { type Case, cases, type Row } from './fault-row.fixture.ts';
import { answerRows } from './fault-rows-answer.fixture.ts';
import { contentRows } from './fault-rows-content.fixture.ts';
import { travelRows } from './fault-rows-travel.fixture.ts';
import { startProviderSim } from './provider-sim.ts';
import { type Sending, sendFault } from './raw-client.fixture.ts';
import type { ProviderSim } from './simulator.ts';

const rows: Record<FaultName, Row[]> = { ...answerRows, ...contentRows, ...travelRows };

describe('every fault, on every operation, streamed or not', () => {
  let sim: ProviderSim;
  before(async () => {
    sim = await startProviderSim();
  });
  after(() => sim.close());

  function sendingOf(row: Row, given: Case, since: number): Sending {
    return typeof row.sending === 'function' ? row.sending(given, sim, since) : (row.sending ?? {});
  }

  it('has a row for every fault there is', () => {
    assert.deepEqual(Object.keys(rows).sort(), [...faultNames].sort());
  });

  for (const [name, list] of Object.entries(rows)) {
    for (const row of list) {
      for (const given of cases.filter(row.only ?? (() => true))) {
        const shape = `${given.operation}${given.stream ? ' stream' : ''}`;
        it(`${name}: ${JSON.stringify(row.fault).slice(0, 90)} on ${shape}`, async () => {
          const options = given.operation === 'chat' ? { stream_options: { include_usage: true } } : {};
          const extra = { ...(given.stream ? { stream: true, ...options } : {}), ...row.extra };
          const since = sim.log.at(-1)?.id ?? 0;
          const seen = await sendFault(sim, given.operation, row.fault, extra, sendingOf(row, given, since));
          const entry = await sim.waitFor((each) => each.id > since && each.outcome !== 'pending');
          row.check(seen, entry, given);
          const outcome =
            typeof row.outcome === 'function' ? row.outcome(given) : (row.outcome ?? 'completed');
          assert.ok([outcome].flat().includes(entry.outcome), `${entry.outcome} instead of ${outcome}`);
          assert.deepEqual(entry.violations, []);
          assert.deepEqual(entry.fault, row.fault);
        });
      }
    }
  }
});
