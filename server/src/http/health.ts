import type { IncomingMessage, ServerResponse } from 'node:http';

export interface HealthReport {
  readonly ready: boolean;
  /** One word per part, for people and dashboards: `up`, `down`, `starting`, `draining`; or a count. */
  readonly parts: Readonly<Record<string, string | Readonly<Record<string, string | number | null>>>>;
}

/**
 * Answers probes from cached state: a probe never waits for a store or a provider, so it cannot hang with them. Liveness only
 * says that the event loop runs.
 */
export function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  report: () => HealthReport,
): boolean {
  const path = request.url?.split('?', 1)[0];
  if (path === '/livez') {
    send(response, 200, { status: 'ok' });
    return true;
  }
  if (path !== '/readyz' && path !== '/healthz') return false;
  const { ready, parts } = report();
  const status = path === '/readyz' && !ready ? 503 : 200;
  send(response, status, { status: ready ? 'ok' : 'unavailable', ...parts });
  return true;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
