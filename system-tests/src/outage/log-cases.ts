import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { freePort } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { createLane } from '../harness/admin-client.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { afterMs } from '../harness/until.ts';
import type { Site } from './site.ts';
import { TRIED_STATES } from './store-states.ts';

// What a gateway logs while providers and stores fail under load.

const INCIDENT_MS = IS_LONG ? 75_000 : 5_000;
const REQUESTS_PER_S = 25;
const HOUR_MS = 3_600_000;
/** The first lines of an incident come faster than the others, so that a short run has more of them. */
const BYTES_PER_HOUR_MAX = IS_LONG ? 200_000 : 2_000_000;

export function describeLogOfIncidents(siteOf: () => Site, figures: Record<string, unknown>): void {
  describe('the log of a gateway during incidents', () => {
    it('is small, has no line twice a second, and no stack without a fault of Relay', async () => {
      const site = siteOf();
      const { admin } = site.deployment;
      const rejecting = createServer((_request, response) => response.writeHead(401).end('{}'));
      await once(rejecting.listen(0, '127.0.0.1'), 'listening');
      const { port } = rejecting.address() as AddressInfo;
      for (const [name, to] of [
        ['rejected', port],
        ['unreachable', await freePort()],
      ] as const)
        await createLane(admin, {
          name,
          endpoints: [{ baseUrl: `http://127.0.0.1:${to}/v1`, upstreamModel: 'any' }],
        });
      const gateway = await site.deployment.startProcess({ role: 'inference' });
      const platform = await site.deployment.startProcess({ role: 'platform' });
      await site.deployment.everywhere();
      const startMs = performance.now();
      let isOver = false;
      const load = (async () => {
        const asked: Promise<void>[] = [];
        const models = ['rejected', 'unreachable', 'limited', 'unlimited'];
        for (let count = 0; !isOver; count += 1) {
          const model = models[count % models.length] ?? '';
          asked.push(ask(gateway.url, site.deployment.apiToken, model));
          if (count % 5 === 0) asked.push(look(platform.url, site.deployment.adminToken));
          await afterMs(1_000 / REQUESTS_PER_S);
        }
        await Promise.all(asked);
        return asked.length;
      })();
      for (const state of TRIED_STATES) {
        await state.begin(site);
        await afterMs(INCIDENT_MS);
        await state.end(site);
        await afterMs(INCIDENT_MS / 5);
      }
      isOver = true;
      const requests = await load;
      const tookMs = performance.now() - startMs;
      rejecting.close();
      const told = Object.fromEntries(
        Object.entries({ gateway, platform }).map(([role, each]) => [role, judged(each, tookMs)]),
      );
      figures['log'] = { requests, seconds: Math.round(tookMs / 1_000), ...told };
      for (const [role, { twice, stacks, bytesPerHour }] of Object.entries(told)) {
        assert.deepEqual({ role, twice, stacks }, { role, twice: [], stacks: [] });
        assert.ok(bytesPerHour <= BYTES_PER_HOUR_MAX, `${role}: ${bytesPerHour} bytes an hour`);
      }
      await Promise.all([gateway.stop(), platform.stop()]);
    });
  });
}

function judged({ logs }: RelayProcess, tookMs: number) {
  const bytes = logs.reduce((sum, line) => sum + JSON.stringify(line).length + 1, 0);
  const faults = logs.filter(({ level }) => level === 'warn' || level === 'error');
  const kinds = Map.groupBy(faults, ({ time, err, repeated, request_id, trace_id, why, ...rest }) =>
    JSON.stringify(Object.entries(rest).filter(([, value]) => typeof value === 'string')),
  );
  const twice = [...kinds].flatMap(([kind, lines]) =>
    lines.some(({ time }, index) => {
      const before = lines[index - 1]?.['time'];
      return before !== undefined && Date.parse(String(time)) - Date.parse(String(before)) < 990;
    })
      ? [kind]
      : [],
  );
  const stacks = faults.filter(({ err }) => typeof err === 'object' && err !== null && 'stack' in err);
  return {
    lines: logs.length,
    bytesPerHour: Math.round((bytes / tookMs) * HOUR_MS),
    twice,
    stacks: stacks.map((line) => JSON.stringify(line).slice(0, 300)),
  };
}

async function ask(url: string, token: string, model: string): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await answer.text();
}

async function look(url: string, token: string): Promise<void> {
  const answer = await fetch(`${url}/api/relay/stats/summary`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.text();
}
