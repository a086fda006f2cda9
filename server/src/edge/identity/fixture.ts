import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compileValidator, type Route, type RouteId, routes } from '@relay/contract';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import type { Kysely } from 'kysely';
import type { RoleName } from '../../domain/access.ts';
import { createManagementApp } from '../../http/management-app.ts';
import { type Clock, systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createSealer } from '../../kit/seal.ts';
import { Secret } from '../../kit/secret.ts';
import type { Mail } from '../../mail/mail.ts';
import { ensureImplicitOrganization } from '../../store/configuration/implicit-organization.ts';
import { createSnapshots } from '../../store/configuration/snapshots.ts';
import { migratedDatabase, silentLog } from '../../store/fixtures/migrated-database.fixture.ts';
import { createFences } from '../../store/keys/fences.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { createRedis } from '../../store/redis/redis.ts';
import { createSessionAuthenticator } from '../session-authenticator.ts';
import { sessionHandlers } from '../session-routes.ts';
import { createSignInCodes } from '../sign-in-codes.ts';
import type { OidcSettings } from './deps.ts';
import { sessionSecrets } from './session-secrets.fixture.ts';
import { createSessions } from './sessions.ts';

/** The console's API of a deployment on the test's own stores, called over HTTP. */
export interface ConsoleFixture {
  readonly url: string;
  readonly db: Kysely<Database>;
  readonly redis: PrivateRedis;
  readonly adminToken: string;
  readonly owner: { readonly organizationId: string; readonly userId: string };
  /** Added to the console's clock. */
  skipMs(ms: number): void;
  /** A separate browser: it keeps its cookies and the CSRF token. */
  browser(userAgent?: string): Browser;
  /** An invitation link, as an owner gets it. */
  invite(organizationId: string, email: string, role: RoleName, expiresInMs?: number): Promise<string>;
  /** What every revocation does after its commit. */
  raiseFence(organizationId: string, version: number): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly code: string | undefined;
  readonly headers: Headers;
  readonly setCookies: readonly string[];
}

export interface Browser {
  readonly cookies: Map<string, string>;
  csrfToken: string;
  send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
}

export interface ConsoleOptions {
  readonly mode?: 'self_hosted' | 'hosted';
  readonly accounts?: boolean;
  readonly publicUrl?: string;
  readonly oidc?: OidcSettings;
  readonly mail?: Mail;
}

export async function startConsole(options: ConsoleOptions = {}): Promise<ConsoleFixture> {
  const [migrated, privateRedis] = await Promise.all([migratedDatabase(), startRedis()]);
  const { db, database } = migrated;
  const mode = options.mode ?? 'self_hosted';
  const owner = await ensureImplicitOrganization(db);
  const redis = createRedis({
    url: privateRedis.url,
    clock: systemClock,
    log: silentLog,
    commandTimeoutMs: 10_000,
  });
  await redis.whenReady(60_000);
  const fences = createFences({ redis, db });
  const sealer = createSealer({ primary: randomBytes(32) });
  const snapshots = createSnapshots({ database, sealer, clock: systemClock, log: silentLog });
  let skippedMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => Date.now() + skippedMs };

  const server = createServer();
  const url = await listening(server);
  const adminToken = randomBytes(24).toString('base64url');
  const codes = createSignInCodes(systemClock);
  const settings = {
    db,
    secrets: sessionSecrets(),
    publicUrl: options.publicUrl ?? url,
    accounts: options.accounts ?? true,
    admin: mode === 'hosted' ? null : { token: new Secret(adminToken), earlierTokens: [], ...owner, codes },
  };
  const log = createLog('silent');
  const handle = await createManagementApp({
    handlers: {
      ...sessionHandlers({
        ...settings,
        mode,
        oidc: options.oidc ?? null,
        redis,
        fences,
        mail: options.mail ?? null,
        clock,
        newId: randomUUIDv7,
        log,
      }),
      getCapabilities: async ({ caller }) => ({
        mode,
        accounts: settings.accounts,
        version: '0.0.0',
        features: {},
        scopes: [...caller.scopes].sort(),
      }),
    },
    authenticate: createSessionAuthenticator({
      ...settings,
      sessions: createSessions(settings),
      freshness: async (organizationId) =>
        snapshots.atLeast(organizationId, await fences.read(organizationId)),
    }),
    bodyBytesMax: 1_000_000,
    publicUrl: settings.publicUrl,
    log,
    draining: () => false,
  });
  server.on('request', (request, response) => handle(request, response, randomUUIDv7()));

  return {
    url,
    db,
    redis: privateRedis,
    adminToken,
    owner,
    skipMs: (ms) => {
      skippedMs += ms;
    },
    browser: (userAgent) => createBrowser(url, userAgent),
    async invite(organizationId, email, role, expiresInMs = 60_000) {
      const token = randomBytes(32).toString('base64url');
      await db
        .insertInto('invitations')
        .values({
          organization_id: organizationId,
          id: randomUUIDv7(),
          email,
          role,
          token_hash: hash('sha256', token, 'buffer'),
          expires_at: new Date(Date.now() + expiresInMs),
        })
        .execute();
      return token;
    },
    raiseFence: fences.raise,
    async close() {
      server.closeAllConnections();
      server.close();
      await snapshots.stop();
      await redis.close();
      await Promise.all([migrated.drop(), privateRedis.remove()]);
    },
  };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function createBrowser(url: string, userAgent = 'browser'): Browser {
  const browser: Browser = {
    cookies: new Map(),
    csrfToken: '',
    async send(method, path, body, headers = {}) {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(path.startsWith('http') ? path : url + path, {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(cookie === '' ? {} : { cookie }),
          ...(method === 'GET' || browser.csrfToken === '' ? {} : { 'x-csrf-token': browser.csrfToken }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const setCookies = response.headers.getSetCookie();
      for (const line of setCookies) keepCookie(browser.cookies, line);
      const text = await response.text();
      const answer = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      if (typeof answer['csrf_token'] === 'string') browser.csrfToken = answer['csrf_token'];
      if (response.ok) demandContract(method, path, answer);
      return {
        status: response.status,
        body: answer,
        code: (answer['error'] as { code?: string } | undefined)?.code,
        headers: response.headers,
        setCookies,
      };
    },
  };
  return browser;
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';');
  const [name = '', ...value] = pair.split('=');
  if (/Max-Age=0(;|$)/.test(line)) cookies.delete(name);
  else cookies.set(name, value.join('='));
}

/** Checks a response against the contract, so that an extra field fails. */
function demandContract(method: string, path: string, body: unknown): void {
  const plain = path.split('?')[0] ?? '';
  const route = (Object.values(routes) as Route[]).find(
    (each) =>
      each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain),
  );
  if (route?.success.schema === undefined) return;
  const result = compileValidator(route.success.schema)(body);
  if (!result.ok)
    throw new Error(
      `${route.id satisfies RouteId} is against the contract: ${JSON.stringify(result.issues)}`,
    );
}

export const PASSWORD = 'correct horse battery staple';

/** A user with their own organization, in a hosted deployment. */
export async function signUp(room: ConsoleFixture, name: string, browser = room.browser()) {
  const email = `${name.toLowerCase()}@example.com`;
  const body = { name, email, password: PASSWORD, organization_name: `${name} Inc` };
  const answer = await browser.send('POST', '/api/signup', body);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  const { user, org } = answer.body as { user: { id: string }; org: { id: string } };
  return { browser, email, userId: user.id, organizationId: org.id, answer };
}

/** A user who accepted an invitation. */
export async function join(
  room: ConsoleFixture,
  organizationId: string,
  name: string,
  role: RoleName = 'developer',
) {
  const email = `${name.toLowerCase()}@example.com`;
  const browser = room.browser();
  const token = await room.invite(organizationId, email, role);
  const answer = await browser.send('POST', '/api/invitations/accept', { token, name, password: PASSWORD });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return { browser, email, userId: (answer.body as { user: { id: string } }).user.id };
}

export function signIn(browser: Browser, email: string, more: object = {}): Promise<Answer> {
  return browser.send('POST', '/api/session', { email, password: PASSWORD, ...more });
}
