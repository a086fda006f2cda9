import type { RequestDetail, RequestLogEntry } from '@relay/contract';
import type { AdminClient } from './admin-client.ts';
import { until } from './until.ts';

const PAGE = 200;
const PAGES_MAX = 100;
const LOGGED_MS_MAX = 15_000;

/** Every request of the log, newest first, as an operator reads it. */
export async function readRequestLog({ call }: AdminClient): Promise<RequestLogEntry[]> {
  const found: RequestLogEntry[] = [];
  let cursor = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { status, body } = await call('GET', `/api/relay/requests?limit=${PAGE}${cursor}`);
    if (status !== 200) throw new Error(`the request log answered ${status}: ${JSON.stringify(body)}`);
    const { data, next_cursor } = body as { data: RequestLogEntry[]; next_cursor: string | null };
    found.push(...data);
    if (next_cursor === null) return found;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
  throw new Error(`the request log has more than ${PAGE * PAGES_MAX} entries`);
}

/** One request with everything that is known of it; null while it is not in the log. */
export async function readRequest({ call }: AdminClient, requestId: string): Promise<RequestDetail | null> {
  const { status, body } = await call('GET', `/api/relay/requests/${requestId}`);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`the request log answered ${status}: ${JSON.stringify(body)}`);
  return body as RequestDetail;
}

/** One request, once a worker has written its row. */
export async function requestWhenLogged(
  admin: AdminClient,
  by: { readonly requestId: string } | { readonly clientRequestId: string },
): Promise<RequestDetail> {
  let found: RequestDetail | null = null;
  await until(async () => {
    const id = 'requestId' in by ? by.requestId : (await findRequest(admin, by.clientRequestId))?.request_id;
    found = id === undefined ? null : await readRequest(admin, id);
    return found !== null;
  }, LOGGED_MS_MAX);
  if (found === null) throw new Error(`no row for ${JSON.stringify(by)} within ${LOGGED_MS_MAX} ms`);
  return found;
}

/** The request that a client has given this name; null while none of the newest has it. */
export async function findRequest(
  { call }: AdminClient,
  clientRequestId: string,
): Promise<RequestLogEntry | null> {
  const { body } = await call('GET', `/api/relay/requests?limit=${PAGE}`);
  const { data } = body as { data: RequestLogEntry[] };
  return data.find(({ client_request_id }) => client_request_id === clientRequestId) ?? null;
}
