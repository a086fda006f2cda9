import type { RequestDetail, RequestLogEntry } from '@relay/contract';
import type { AdminClient } from './admin-client.ts';

const PAGE = 200;
const PAGES_MAX = 100;

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

/** The request that a client has given this name; null while none of the newest has it. */
export async function findRequest(
  { call }: AdminClient,
  clientRequestId: string,
): Promise<RequestLogEntry | null> {
  const { body } = await call('GET', `/api/relay/requests?limit=${PAGE}`);
  const { data } = body as { data: RequestLogEntry[] };
  return data.find(({ client_request_id }) => client_request_id === clientRequestId) ?? null;
}
