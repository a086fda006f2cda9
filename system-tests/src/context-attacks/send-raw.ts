import { talk } from '../harness/raw-connection.ts';
import { BODY, PATH } from './forge-context.ts';
import type { RawRequest } from './request-attacks.ts';

export interface RawAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string;
  readonly body: string;
}

/** Sends a request that no HTTP library would, and returns the response. */
export async function sendRaw(url: string, request: RawRequest): Promise<RawAnswer> {
  const { start = `POST ${PATH} HTTP/1.1`, lines, body = BODY } = request;
  const isChunked = lines.some((line) => line.startsWith('transfer-encoding'));
  const framing =
    isChunked || (start.startsWith('GET') && body === '') ? [] : [`content-length: ${body.length}`];
  const head = [
    start,
    'host: relay',
    'content-type: application/json',
    'connection: close',
    ...framing,
    ...lines,
  ];
  const { responses } = await talk({
    url,
    send: (socket) => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
    timeoutMs: 15_000,
  });
  const answer = responses.at(-1);
  return {
    status: answer?.status ?? 0,
    code: codeOf(answer?.body ?? ''),
    requestId: answer?.headers['x-request-id'] ?? '',
    body: answer?.body ?? '',
  };
}

function codeOf(body: string): string | null {
  try {
    return (JSON.parse(body) as { error?: { code?: string } }).error?.code ?? null;
  } catch {
    return null;
  }
}
