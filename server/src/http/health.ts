import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HealthReport } from '@relay/contract';

/** What a process knows of itself, from memory. */
export interface Health extends Omit<HealthReport, 'status'> {
  /** A process that drains takes no new requests. */
  readonly draining: boolean;
}

/**
 * Answers probes from cached state: a probe never waits for a store or a provider, so it cannot hang with them.
 * `/livez` only says that the event loop runs. `/readyz` is 503 while the process takes no new requests; a store that is
 * down does not make it unready, because inference serves from the last snapshot. `/healthz` is 503 also when no store can
 * be reached.
 */
export function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  healthOf: () => Health,
): boolean {
  const path = request.url?.split('?', 1)[0];
  if (path === '/livez') {
    send(response, 200, { status: 'ok' });
    return true;
  }
  if (path !== '/readyz' && path !== '/healthz') return false;
  const { draining, ...health } = healthOf();
  const status = statusOf(draining, health.checks);
  const isDown = path === '/readyz' ? draining : status === 'draining' || status === 'unavailable';
  send(response, isDown ? 503 : 200, { status, ...health });
  return true;
}

function statusOf(draining: boolean, checks: HealthReport['checks']): HealthReport['status'] {
  if (draining) return 'draining';
  const all = Object.values(checks);
  const down = all.filter(({ status }) => status !== 'ok');
  if (down.length === 0) return 'ok';
  return down.length === all.length ? 'unavailable' : 'degraded';
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
