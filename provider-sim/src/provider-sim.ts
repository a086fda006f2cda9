import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Access } from './access/access.ts';
import { serveTokens } from './access/serve-tokens.ts';
import { createAskCache } from './ask-cache.ts';
import { serveControl } from './control.ts';
import { createTally } from './counts.ts';
import { createFaultScript } from './fault-script.ts';
import { noFacts } from './inspect-headers.ts';
import { modelsDefault, type SimModel } from './models.ts';
import { serveOllama } from './ollama.ts';
import { createEntry } from './open-exchange.ts';
import { createRequestLog } from './request-log.ts';
import { type SimState, serveRequest } from './serve-request.ts';
import type { ProviderSim, ProviderSimOptions } from './simulator.ts';

const waitMsDefault = 10_000;

export async function startProviderSim(options: ProviderSimOptions = {}): Promise<ProviderSim> {
  const state = createState(options);
  const server = serverOf(options);
  const host = options.host ?? '127.0.0.1';
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  const url = `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  let accepting: NodeJS.Timeout | undefined;

  const sim: ProviderSim = {
    url,
    baseUrl: `${url}/v1`,
    port,
    log: state.log.entries,
    counts: (key) => state.tally.of(key),
    countsByKey: () => state.tally.byKey(),
    script: (...rules) => state.script.add(rules),
    clearScript: () => state.script.clear(),
    reset() {
      state.script.clear();
      state.log.clear();
      state.tally.clear();
    },
    openStreams: () => state.streams.open,
    openRequests: () => state.open.size,
    waitFor: (predicate, given) => state.log.waitFor(predicate, given?.timeoutMs ?? waitMsDefault),
    refuseConnections(forMs) {
      if (server.listening) server.close();
      server.closeIdleConnections();
      clearTimeout(accepting);
      if (forMs !== undefined) accepting = setTimeout(() => void sim.acceptConnections(), forMs);
      return Promise.resolve();
    },
    async acceptConnections() {
      clearTimeout(accepting);
      if (!server.listening) await listen(server, port, host);
    },
    async close() {
      clearTimeout(accepting);
      for (const exchange of state.open) exchange.settle('sim_closed');
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : null;
      server.closeAllConnections();
      await closed;
    },
  };

  server.on('request', (req, res) => {
    const { serviceAccounts } = options;
    if (req.url?.startsWith('/_sim/') === true) void serveControl(sim, req, res);
    else if (serviceAccounts !== undefined && req.url === '/token')
      void serveTokens(serviceAccounts, `${url}/token`, req, res);
    else if (options.ollama === true && serveOllama(state.models.values(), req, res)) return;
    else serveRequest(state, req, res);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    noteUnreadable(state, error);
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  return sim;
}

function serverOf({ tls }: ProviderSimOptions): Server {
  const usual = { keepAliveTimeout: 120_000, requestTimeout: 0, maxHeaderSize: 65_536 };
  if (tls === undefined) return createServer(usual);
  const { cert, key, clientAuthority: ca } = tls;
  return createTlsServer({ ...usual, cert, key, ca, requestCert: true, rejectUnauthorized: true });
}

function accessOf({ access, serviceAccounts }: ProviderSimOptions): Access | null {
  return access ?? serviceAccounts?.access ?? null;
}

function createState(options: ProviderSimOptions): SimState {
  const models = new Map<string, SimModel>();
  for (const model of options.models ?? modelsDefault) {
    const given = typeof model === 'string' ? { id: model } : model;
    models.set(given.id, given);
  }
  let lastId = 0;
  return {
    keys: options.keys === undefined ? null : new Set(options.keys),
    anonymous: options.anonymous ?? (accessOf(options) !== null || options.tls !== undefined),
    access: accessOf(options),
    anyPrefix: options.anyPrefix ?? false,
    bodyBytesMax: options.requestBytesMax ?? 64 * 1024 * 1024,
    models,
    log: createRequestLog({
      entriesMax: options.logEntriesMax ?? 8192,
      bodyBytesMax: options.logBodyBytesMax ?? 64 * 1024 * 1024,
      hash: (body) => createHash('sha256').update(body).digest('hex'),
      retention: options.bodies ?? 'bytes',
    }),
    tally: createTally(),
    script: createFaultScript(),
    play: options.play ?? null,
    readBody: createAskCache({ seed: options.seed ?? 1, models }),
    nextId: () => {
      lastId += 1;
      return lastId;
    },
    streams: { open: 0 },
    open: new Set(),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** A request the parser refuses (both framing headers, for one) never reaches a handler; it is logged all the same. */
function noteUnreadable(state: SimState, error: NodeJS.ErrnoException): void {
  const facts = { ...noFacts, violations: [`unreadable:${error.code}`] };
  const entry = createEntry(state.nextId(), { rawHeaders: [] }, '', '', facts);
  entry.status = 400;
  entry.outcome = 'refused';
  entry.finishedAtMs = entry.receivedAtMs;
  const packet = (error as { rawPacket?: Buffer }).rawPacket;
  if (packet !== undefined) state.log.keepBody(entry, packet);
  state.tally.received(entry);
  state.tally.finished(entry);
  state.log.add(entry);
  state.log.changed(entry);
}
