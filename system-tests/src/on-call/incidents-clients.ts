import { afterMs } from '../harness/until.ts';
import type { Incident } from './incident.ts';
import { ask } from './load.ts';
import { FREE, type Site } from './site.ts';

// What clients do wrong by themselves fires no alert.

const EVERY_MS = 40;
const LASTS_MS = 12_000;

/** One more client, beside the load, that repeats its mistake. */
function mistaken(request: (site: Site, count: number) => Promise<unknown>) {
  return async (site: Site) => {
    let isMistaken = true;
    let count = 0;
    const sending = (async () => {
      while (isMistaken) {
        count += 1;
        await request(site, count).catch(() => undefined);
        await afterMs(EVERY_MS);
      }
    })();
    return {
      async heals() {
        isMistaken = false;
        await sending;
      },
    };
  };
}

function post(site: Site, token: string, body: string): Promise<unknown> {
  return fetch(`${site.front.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    body,
  }).then((response) => response.text());
}

const quiet = { tells: {}, lastsMs: LASTS_MS } as const;

export const clientIncidents: readonly Incident[] = [
  {
    ...quiet,
    name: 'a client sends an unknown key',
    breaks: mistaken((site) => post(site, 'not-a-key', '{}')),
  },
  {
    ...quiet,
    name: 'a client sends malformed JSON',
    breaks: mistaken((site) => post(site, site.apiToken, '{"model":')),
  },
  {
    ...quiet,
    name: 'a client asks for a model that there is not',
    breaks: mistaken((site) => post(site, site.apiToken, '{"model":"gpt-of-tomorrow","messages":[]}')),
  },
  {
    ...quiet,
    name: 'a client leaves before its answer',
    breaks: mistaken(async (site, count) => {
      const signal = AbortSignal.timeout(20);
      await fetch(`${site.front.url}/v1/chat/completions`, {
        method: 'POST',
        signal,
        headers: { authorization: `Bearer ${site.apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: FREE,
          messages: [],
          max_tokens: 5,
          sim: { tag: `left-${count}`, delayMs: 300 },
        }),
      });
    }),
  },
  {
    ...quiet,
    name: 'a client sends a body that is too large',
    breaks: mistaken((site) => post(site, site.apiToken, 'x'.repeat(21 * 1024 * 1024))),
  },
  {
    ...quiet,
    name: 'a crowd comes for five seconds',
    breaks: mistaken((site, count) =>
      Promise.all(
        Array.from({ length: 4 }, (_, index) =>
          ask({ url: site.front.url, token: site.apiToken, lane: FREE, tag: `crowd-${count}-${index}` }),
        ),
      ),
    ),
    lastsMs: 5_000,
  },
];
