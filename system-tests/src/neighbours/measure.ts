import { Agent, request } from 'node:http';
import { quantile } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';

const CLIENTS = 8;
const PAUSE_MS = 10;
const BODY = JSON.stringify({ model: 'good', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });

export interface Measured {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/** The latency of an organization's requests over some time. */
export async function measure(url: string, key: string, forMs: number): Promise<Measured> {
  const agent = new Agent({ keepAlive: true });
  const tookMs: number[] = [];
  let failed = 0;
  const endMs = performance.now() + forMs;
  async function client(): Promise<void> {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      if ((await ask(agent, url, key)) !== 200) failed += 1;
      tookMs.push(performance.now() - startMs);
      await afterMs(PAUSE_MS);
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return { requests: tookMs.length, p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99), failed };
}

function ask(agent: Agent, url: string, key: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(BODY);
  });
}
