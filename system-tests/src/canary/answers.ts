import { openRaw } from '../harness/raw-exchange.ts';
import type { Exchange } from './inference-traffic.ts';
import type { Site } from './site.ts';

/** Something that was answered, and to whom. */
export interface Shown {
  readonly to: string;
  readonly what: string;
  readonly status: number;
  readonly bytes: Buffer;
}

interface Browsed {
  readonly body: Record<string, unknown>;
  readonly cookie: string;
}

/** Asks, and keeps every answer: head and body. */
export interface Answers {
  readonly shown: readonly Shown[];
  infer(to: string, exchange: Exchange): Promise<void>;
  manage(
    to: string,
    token: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>>;
  browse(
    to: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Browsed>;
  visit(what: string, url: string): Promise<void>;
}

const SILENCE_MS_MAX = 20_000;

export function collectAnswers(site: Site): Answers {
  const shown: Shown[] = [];

  async function take(
    to: string,
    what: string,
    url: string,
    init: RequestInit,
  ): Promise<{ text: string; headers: Headers }> {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const text = await response.text();
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    shown.push({ to, what, status: response.status, bytes: Buffer.from(`${head}\n\n${text}`) });
    return { text, headers: response.headers };
  }

  function json(method: string, body: unknown, headers: Record<string, string>): RequestInit {
    return {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    };
  }

  return {
    shown,
    infer: (to, exchange) =>
      new Promise((resolve) => {
        const { name, path, headers, body, hangUpAfterMs } = exchange;
        const sending = openRaw({ url: site.inferenceUrl + path, headers, body });
        const chunks: Buffer[] = [];
        let status = 0;
        const timer = setTimeout(() => sending.destroy(), hangUpAfterMs ?? SILENCE_MS_MAX);
        sending.on('error', () => undefined);
        sending.on('response', (response) => {
          status = response.statusCode ?? 0;
          chunks.push(Buffer.from(`${response.rawHeaders.join('\n')}\n\n`));
          response.on('error', () => undefined);
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
        });
        sending.on('close', () => {
          clearTimeout(timer);
          shown.push({ to, what: name, status, bytes: Buffer.concat(chunks) });
          resolve();
        });
        sending.end(body);
      }),
    async manage(to, token, method, path, body) {
      const init = json(method, body, { authorization: `Bearer ${token}` });
      return parsed((await take(to, `${method} ${path}`, site.managementUrl + path, init)).text);
    },
    async browse(to, method, path, body, headers = {}) {
      const init = json(method, body, headers);
      const { text, headers: answered } = await take(
        to,
        `${method} ${path}`,
        site.managementUrl + path,
        init,
      );
      const cookie = /^relay_session=([^;]+);/.exec(answered.get('set-cookie') ?? '')?.[1] ?? '';
      return { body: parsed(text), cookie };
    },
    async visit(what, url) {
      await take('anybody', what, url, {});
    },
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
