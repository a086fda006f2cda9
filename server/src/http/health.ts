import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HealthReport } from '@relay/contract';

/** What a process knows of itself, from memory. */
export interface Health extends Omit<HealthReport, 'status'> {
  /** The process stops, and wants no new requests. It may still serve those that come. */
  readonly draining: boolean;
  /** A store belongs to another deployment by now, and is not used. */
  readonly hasForeignStore?: boolean;
}

/**
 * Answers probes from cached state: a probe never waits for a store or a provider, so it cannot hang with them.
 * `/livez` only says that the event loop runs. `/readyz` is 503 once the process stops; a store that is
 * down does not make it unready, because inference serves from the last snapshot. So is a process whose clock is far off: it would
 * serve, but another one serves with less doubt; one whose Redis belongs to another deployment; and one that lacks a secret of its
 * deployment, whose requests would fail. `/healthz` is 503 also when no store can
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
  const { draining, hasForeignStore, ...health } = healthOf();
  const status = statusOf(draining, health);
  const isReady =
    !draining &&
    !hasForeignStore &&
    health.clock?.status !== 'unavailable' &&
    health.secrets?.status !== 'unavailable';
  const isDown = path === '/readyz' ? !isReady : status === 'draining' || status === 'unavailable';
  send(response, isDown ? 503 : 200, { status, ...health });
  return true;
}

function statusOf(
  draining: boolean,
  { checks, clock, secrets }: Omit<Health, 'draining' | 'hasForeignStore'>,
): HealthReport['status'] {
  if (draining) return 'draining';
  const all = Object.values(checks);
  const down = all.filter(({ status }) => status !== 'ok');
  const isDoubtful = clock?.status === 'unavailable' || secrets?.status === 'unavailable';
  if (down.length === 0) return isDoubtful ? 'degraded' : 'ok';
  return down.length === all.length ? 'unavailable' : 'degraded';
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
