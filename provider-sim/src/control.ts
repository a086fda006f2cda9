import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ScriptRule } from './fault-script.ts';
import type { RequestLogEntry } from './request-log.ts';
import type { ProviderSim } from './simulator.ts';

/** The control plane, for a test in another process. It never appears in the log or the counts. */
export async function serveControl(
  sim: ProviderSim,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const url = new URL(req.url ?? '/', 'http://sim');
  const given = await readJson(req);
  try {
    const answer =
      given === malformed ? null : await controlAnswer(sim, `${req.method} ${url.pathname}`, url, given);
    if (answer === null) return send(res, given === malformed ? 400 : 404, { error: 'unknown or malformed' });
    send(res, 200, answer);
  } catch (error) {
    send(res, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function controlAnswer(
  sim: ProviderSim,
  route: string,
  url: URL,
  given: unknown,
): Promise<object | null> {
  switch (route) {
    case 'POST /_sim/script': {
      const rules = (Array.isArray(given) ? given : [given]) as ScriptRule[];
      sim.script(...rules);
      return { rules: rules.length };
    }
    case 'DELETE /_sim/script':
      sim.clearScript();
      return { rules: 0 };
    case 'GET /_sim/log':
      return { entries: await entriesSince(sim, url.searchParams) };
    case 'GET /_sim/counts': {
      const key = url.searchParams.get('key');
      const total = key === null ? sim.counts() : sim.counts(key);
      return { ...total, openStreams: sim.openStreams(), byKey: sim.countsByKey() };
    }
    case 'POST /_sim/reset':
      sim.reset();
      return { reset: true };
    case 'POST /_sim/refuse': {
      const ms = Number((given as { ms?: unknown } | null)?.ms);
      if (!Number.isSafeInteger(ms) || ms < 1) throw new Error("'ms' must be a positive integer.");
      // The answer leaves first; the listener closes once it has.
      setImmediate(() => void sim.refuseConnections(ms));
      return { refusingForMs: ms };
    }
    default:
      return null;
  }
}

/** Entries after `since`; with `wait_ms`, waits that long for one that is over. */
async function entriesSince(sim: ProviderSim, query: URLSearchParams): Promise<unknown[]> {
  const since = Number(query.get('since') ?? 0);
  const waitMs = Number(query.get('wait_ms') ?? 0);
  const isNew = (entry: RequestLogEntry): boolean => entry.id > since;
  if (waitMs > 0) {
    await sim
      .waitFor((entry) => isNew(entry) && entry.outcome !== 'pending', { timeoutMs: waitMs })
      .catch(() => null);
  }
  const withBody = query.get('body') !== '0';
  return sim.log.filter(isNew).map((entry) => ({
    ...entry,
    body: undefined,
    bodyBase64: withBody ? (entry.body?.toString('base64') ?? null) : null,
  }));
}

const malformed = Symbol('malformed');

async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  if (chunks.length === 0) return null;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return malformed;
  }
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(`${JSON.stringify(body)}\n`);
}
