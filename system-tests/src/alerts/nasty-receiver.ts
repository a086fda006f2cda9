import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../chaos/random.ts';

/** What one threshold of one window was told about. */
export interface Seen {
  readonly ids: ReadonlySet<string>;
  /** Deliveries that the receiver accepted. */
  readonly accepted: number;
}

export interface Receiver {
  readonly url: string;
  /** By policy, window, type and share. */
  seen(): ReadonlyMap<string, Seen>;
  readonly counts: { deliveries: number; refused: number; badSignatures: number };
  close(): Promise<void>;
}

interface Message {
  readonly id: string;
  readonly type: string;
  readonly policy: { readonly id: string };
  readonly window: { readonly start: string };
  readonly threshold_percent: number | null;
}

/** Fails half of its answers: with an error, by hanging up, and by both after it has taken the message. */
export async function startReceiver(random: Random, secret: string): Promise<Receiver> {
  const seen = new Map<string, { ids: Set<string>; accepted: number }>();
  const counts = { deliveries: 0, refused: 0, badSignatures: 0 };

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    counts.deliveries += 1;
    if (!isSigned(request, body, secret)) counts.badSignatures += 1;
    const { id, type, policy, window, threshold_percent } = JSON.parse(body) as Message;
    const key = `${policy.id} ${window.start} ${type} ${threshold_percent}`;
    const entry = seen.get(key) ?? { ids: new Set(), accepted: 0 };
    seen.set(key, entry);
    entry.ids.add(id);
    entry.ids.add(String(request.headers['webhook-id']));
    if (random.chance(0.5)) {
      counts.refused += 1;
      if (random.chance(0.5)) request.socket.destroy();
      else response.writeHead(random.pick([500, 503, 302, 404])).end();
      return;
    }
    entry.accepted += 1;
    response.writeHead(204).end();
  }

  const server = createServer((request, response) => void receive(request, response).catch(() => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts`,
    seen: () => seen,
    counts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As docs/guides/alerts.md tells receivers to do. */
function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', key).update(signed).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .some((each) => {
      const given = Buffer.from(each.replace('v1,', ''), 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}
