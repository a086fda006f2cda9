import type { Deployment } from '../harness/deployment.ts';

/** Requests whose responses are awaited. */
export interface HeldRequests {
  /** Sends this many streams that stall halfway, without waiting for them. */
  hold(model: string, count: number): void;
  /** The client of the oldest one leaves. */
  leave(): void;
  /** All clients leave. */
  end(): void;
}

/** Keeps requests queued or in flight until they are released. */
export function holdRequests(site: Pick<Deployment, 'url' | 'apiToken'>): HeldRequests {
  const held: AbortController[] = [];
  async function send(model: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'Take your time.' }],
        sim: { stallAfterFrames: 2 },
      }),
      signal,
    });
    await response.arrayBuffer();
  }
  return {
    hold(model, count) {
      for (let sent = 0; sent < count; sent += 1) {
        const client = new AbortController();
        held.push(client);
        send(model, client.signal).catch(() => undefined);
      }
    },
    leave: () => held.shift()?.abort(),
    end() {
      for (const client of held.splice(0)) client.abort();
    },
  };
}
