import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { type Answer, type Browser, createBrowser } from '../harness/browser.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type SmtpProcess, startSmtp } from '../harness/smtp-process.ts';

export const PASSWORD = 'correct horse battery staple';
export const figures = { checks: 0, failing: 0 };
export const PUBLIC_URL = 'https://relay.example.com';

export function check(name: string, run: () => Promise<void>): void {
  it(name, async () => {
    figures.checks += 1;
    figures.failing += 1;
    await run();
    figures.failing -= 1;
  });
}

export interface Person {
  readonly email: string;
  readonly browser: Browser;
  readonly address: string;
}

/** A deployment with a mail server, and people who use it from addresses of their own. */
export interface Site {
  readonly deployment: Deployment;
  readonly smtp: SmtpProcess;
  readonly accounts: Accounts;
  /** Every second request goes to the other process. */
  send(
    browser: Browser,
    address: string,
    method: string,
    path: string,
    body?: object,
    more?: Record<string, string>,
  ): Promise<Answer>;
  /** A new user who has signed in once, from an address of their own. */
  join(name: string): Promise<Person>;
  signIn(
    email: string,
    address: string,
    more?: object,
    headers?: Record<string, string>,
  ): Promise<Answer & { browser: Browser }>;
  /** Who may invite. */
  owner(): Promise<Browser>;
  newAddress(): string;
  stop(): Promise<void>;
}

export type Mode = 'hosted' | 'self_hosted';

function modeSettings(mode: Mode): Record<string, string> {
  return mode === 'hosted' ? { RELAY_MODE: 'hosted' } : { RELAY_ACCOUNTS: 'true' };
}

export function mailSettings(smtpUrl: string): Record<string, string> {
  return {
    RELAY_SMTP_URL: smtpUrl,
    RELAY_MAIL_FROM: 'Relay <relay@example.com>',
    RELAY_PUBLIC_URL: PUBLIC_URL,
  };
}

export interface SiteOptions {
  readonly processes?: number;
  readonly smtp?: SmtpProcess;
  /** Without it, a plain server on this machine. */
  readonly env?: Record<string, string>;
}

export async function startSite(mode: Mode, options: SiteOptions = {}): Promise<Site> {
  const authSecret = randomBytes(24).toString('base64url');
  const smtp = options.smtp ?? (await startSmtp());
  const deployment = await startDeployment({
    processes: options.processes ?? 2,
    stores: 'servers',
    env: {
      RELAY_AUTH_SECRET: authSecret,
      ...modeSettings(mode),
      ...(options.env ?? mailSettings(`smtp://127.0.0.1:${smtp.port}`)),
    },
  });
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  let turn = 0;
  let people = 0;
  const send: Site['send'] = (browser, address, method, path, body, more = {}) => {
    const { url } = deployment.processes[turn++ % deployment.processes.length] ?? deployment;
    return browser.send(method, url + path, body, { 'x-forwarded-for': address, ...more });
  };
  // The last proxy is on this machine, so what it adds counts as the client.
  const newAddress = () =>
    `10.${Math.floor(people / 65_536)}.${Math.floor(people / 256) % 256}.${people++ % 256}`;
  let ownerBrowser: Browser | null = null;

  async function owner(): Promise<Browser> {
    if (ownerBrowser !== null) return ownerBrowser;
    const browser = createBrowser();
    if (mode === 'hosted') {
      await signUp(browser, 'Owner', newAddress());
      // The free plan has three members.
      await accounts.query(`update organizations set plan = 'team'`);
    } else {
      const body = { token: deployment.adminToken };
      demand(await send(browser, newAddress(), 'POST', '/api/session', body), 201);
    }
    ownerBrowser = browser;
    return browser;
  }
  async function signUp(browser: Browser, name: string, address: string): Promise<string> {
    const email = `${name.toLowerCase()}@example.com`;
    demand(await send(browser, address, 'POST', '/api/signup/link', { email }), 204);
    const { text } = await smtp.next(email, /^Finish signing up/);
    const token = /#token=([\w.-]+)&/.exec(text)?.[1];
    const body = { name, email, password: PASSWORD, organization_name: `${name} Inc`, token };
    demand(await send(browser, address, 'POST', '/api/signup', body), 201);
    return email;
  }
  async function accept(browser: Browser, name: string, address: string): Promise<string> {
    const email = `${name.toLowerCase()}@example.com`;
    const invitation = { email, role: 'developer' };
    const made = demand(
      await send(await owner(), newAddress(), 'POST', '/api/org/invitations', invitation),
      201,
    );
    const token = new URL(String(made.body['accept_url'])).hash.replace('#token=', '');
    demand(
      await send(browser, address, 'POST', '/api/invitations/accept', { token, name, password: PASSWORD }),
      201,
    );
    return email;
  }
  return {
    deployment,
    smtp,
    accounts,
    send,
    owner,
    newAddress,
    async join(name) {
      const [browser, address] = [createBrowser(), newAddress()];
      const email = await (mode === 'hosted' ? signUp : accept)(browser, name, address);
      return { email, browser, address };
    },
    async signIn(email, address, more = {}, headers = {}) {
      const browser = createBrowser();
      const body = { email, password: PASSWORD, ...more };
      return { ...(await send(browser, address, 'POST', '/api/session', body, headers)), browser };
    },
    async stop() {
      await accounts.close();
      await deployment.stop();
      await smtp.kill();
    },
  };
}

export function demand(answer: Answer, status: number): Answer {
  assert.equal(answer.status, status, `${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

export function tokenIn(text: string): string {
  return /#token=([\w-]{43})/.exec(text)?.[1] ?? '';
}
