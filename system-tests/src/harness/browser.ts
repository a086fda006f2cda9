import { requireContract } from './response-faults.ts';

/** A browser without a screen: it keeps cookies as browsers do, whatever the port, and the token of its session that writes need. */
export interface Browser {
  csrfToken: string;
  send(method: string, url: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Follows redirects from page to page until one answers otherwise, or until it is sent to `until`. */
  follow(url: string, until: string): Promise<{ readonly answer: Answer; readonly url: string }>;
  readonly cookies: Map<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly code: string | undefined;
  readonly headers: Headers;
}

const REDIRECTS_MAX = 10;

export function createBrowser(): Browser {
  const browser: Browser = {
    csrfToken: '',
    cookies: new Map(),
    async send(method, url, body, headers = {}) {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          ...(cookie === '' ? {} : { cookie }),
          ...(method === 'GET' || browser.csrfToken === '' ? {} : { 'x-csrf-token': browser.csrfToken }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      for (const line of response.headers.getSetCookie()) keep(browser.cookies, line);
      const text = await response.text();
      const { pathname, search } = new URL(url);
      const { status, headers: received } = response;
      requireContract({ method, path: pathname + search, status, headers: received, text });
      const answer = jsonOf(text);
      if (typeof answer['csrf_token'] === 'string') browser.csrfToken = answer['csrf_token'];
      const { code } = (answer['error'] ?? {}) as { code?: string };
      return { status, body: answer, code, headers: received };
    },
    async follow(url, until) {
      let answer = await browser.send('GET', url);
      let at = url;
      for (let redirects = 0; redirects < REDIRECTS_MAX; redirects += 1) {
        const location = answer.headers.get('location');
        if (location === null) break;
        const next = new URL(location, at);
        if (next.origin + next.pathname === until) return { answer, url: next.toString() };
        at = next.toString();
        answer = await browser.send('GET', at);
      }
      return { answer, url: at };
    },
  };
  return browser;
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';');
  const [name = '', ...value] = pair.split('=');
  const gone = /; ?max-age=0(;|$)/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line);
  if (gone) cookies.delete(name);
  else cookies.set(name, value.join('='));
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
