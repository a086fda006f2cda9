// Loaded into a server's process by `--import`: shortens the time in which a whole request must have arrived,
// so that a test need not take the two minutes that a client gets.
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';

const DEADLINE_MS = 2_000;

subscribe('http.server.request.start', (message) => {
  const { server } = message as { server: Server };
  server.requestTimeout = DEADLINE_MS;
  server.headersTimeout = DEADLINE_MS;
});
