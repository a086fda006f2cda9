import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SimModel } from './models.ts';

/** The paths of Ollama's own interface by which clients find it: its version and the models on its disk. */
export function serveOllama(models: Iterable<SimModel>, req: IncomingMessage, res: ServerResponse): boolean {
  const answer = answerOf(models, `${req.method} ${req.url}`);
  if (answer === null) return false;
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer));
  return true;
}

function answerOf(models: Iterable<SimModel>, asked: string): object | null {
  if (asked === 'GET /api/version') return { version: '0.13.0' };
  if (asked !== 'GET /api/tags') return null;
  return { models: Array.from(models, ({ id }) => ({ name: id, model: id, size: 0 })) };
}
