import type { paths } from '@relay/contract/api-types';
import createClient, { type Client } from 'openapi-fetch';
import { ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { waitingFor } from '../output/progress.ts';
import {
  type Connection,
  type ConnectionOptions,
  type Plane,
  resolveConnection,
  tokenFor,
} from '../session/connection.ts';
import { errorOf, foreignAnswer } from './api-error.ts';
import { unreachable } from './unreachable.ts';

const ANSWER_MS_MAX = 60_000;
/** A replay takes up to half a minute, after those that wait before it. */
const WHAT_IF_MS_MAX = 280_000;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** The API for commands. Every call returns data or throws a `ProgramError`. */
export interface Api {
  readonly connection: Connection;
  /** Everything below /api, and the health checks. */
  readonly management: Client<paths>;
  /** Everything below /v1, without the prefix. */
  readonly inference: Client<paths>;
  /** A text page, without a token or with its own. */
  text(path: string, token: string | null): Promise<string>;
  /** A streamed response without a time limit; the caller ends it. */
  stream(plane: Plane, path: string, init?: StreamInit): Promise<Response>;
}

export interface StreamInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Shows no spinner, because the caller shows progress itself. */
  readonly isQuiet?: boolean;
}

export async function connect(surroundings: Surroundings, options: ConnectionOptions): Promise<Api> {
  return createApi(surroundings, await resolveConnection(surroundings, options));
}

export function createApi(surroundings: Surroundings, connection: Connection): Api {
  const { server } = connection;
  const ask = (request: Request) =>
    waitingFor(surroundings, `waiting for ${new URL(server).host}`, send(server, request));
  const clientOf = (plane: Plane, prefix: string) =>
    createClient<paths>({
      baseUrl: server + prefix,
      redirect: 'manual',
      fetch: async (request) => {
        if (!isOpenToAll(request.url, server)) {
          request.headers.set('authorization', `Bearer ${tokenFor(connection, plane)}`);
        }
        return whole(await ask(bounded(request)));
      },
    });
  return {
    connection,
    management: clientOf('management', ''),
    inference: clientOf('inference', '/v1'),
    async text(path, token) {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const request = new Request(server + path, { headers, redirect: 'manual' });
      return textOf(server, await ask(bounded(request)));
    },
    async stream(plane, path, { isQuiet = false, ...init } = {}) {
      const headers = { ...init.headers, authorization: `Bearer ${tokenFor(connection, plane)}` };
      const request = new Request(server + path, { ...init, headers, redirect: 'manual' });
      return isQuiet ? send(server, request) : ask(request);
    },
  };
}

/** The data of a call; failed calls have already thrown. */
export async function dataOf<T>(call: Promise<{ readonly data?: T | undefined }>): Promise<T> {
  const { data } = await call;
  if (data === undefined)
    throw new ProgramError('The server returned an empty response. Check that the address is Relay’s.');
  return data;
}

/** Health checks and the OpenAPI document need no token, so none is sent. */
function isOpenToAll(url: string, server: string): boolean {
  const path = url.slice(server.length);
  return !path.startsWith('/api/') && !path.startsWith('/v1/');
}

function bounded(request: Request): Request {
  const answerMsMax = request.url.endsWith('/api/relay/what-if') ? WHAT_IF_MS_MAX : ANSWER_MS_MAX;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(answerMsMax)]);
  return new Request(request, { signal });
}

async function send(server: string, request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable(server, error);
  }
  // A 503 of a health check carries the report.
  if (response.ok || isProbe(request.url)) return response;
  throw await errorOf(response, await textOf(server, response));
}

/** Reads the whole response and verifies that it is JSON. */
async function whole(response: Response): Promise<Response> {
  if (response.status === 204) return response;
  const text = await textOf(response.url, response);
  try {
    JSON.parse(text);
  } catch {
    throw foreignAnswer(response);
  }
  return new Response(text, { status: 200, headers: response.headers });
}

async function textOf(server: string, response: Response): Promise<string> {
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX)
        throw new ProgramError(`The response from ${server} is larger than 256 MiB.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw error instanceof ProgramError ? error : unreachable(new URL(server).origin, error);
  }
}

function isProbe(url: string): boolean {
  return /\/(livez|readyz|healthz)$/.test(url);
}
