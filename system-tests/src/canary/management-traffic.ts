import { openAccounts } from '../harness/accounts.ts';
import type { Answers } from './answers.ts';
import type { Site } from './site.ts';

type Ask = readonly [method: string, path: string, body?: unknown];

/** The owner of another organization, who must see none of it. */
export interface Stranger {
  readonly key: string;
}

export async function addStranger(site: Site): Promise<Stranger> {
  const accounts = openAccounts({ databaseUrl: site.postgres.url, authSecret: site.authSecret });
  try {
    const organizationId = await accounts.addOrganization({ plan: 'self_hosted', name: 'Strangers' });
    const userId = await accounts.addMember(organizationId, { role: 'owner' });
    const scopes = ['relay:request', 'relay:usage:read:organization', 'relay:usage:read'] as const;
    const { key } = await accounts.addKey({ organizationId, userId, scopes });
    site.canaries.know('the key of a stranger', secretOf(key));
    return { key };
  } finally {
    await accounts.close();
  }
}

/** What comes after the part of a key that names it. */
function secretOf(key: string): string {
  return key.split('_')[2] ?? '';
}

/** Writes that carry secrets, right and wrong, and whatever the server makes in answer to them. */
export async function writeSecrets(site: Site, answers: Answers): Promise<void> {
  const { canaries, provider } = site;
  const plant = canaries.plant;
  const call = (...[method, path, body]: Ask) =>
    answers.manage('the operator', site.adminToken, method, path, body);
  const shown = (label: string, value: unknown) => {
    if (typeof value === 'string' && value !== '') canaries.know(label, value);
  };

  const made = await call('POST', '/api/relay/providers', {
    name: 'Canary',
    base_url: provider.baseUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  });
  const provider_id = made['id'];
  const first = await call('POST', '/api/relay/credentials', {
    provider_id,
    name: 'one',
    secret: plant('a stored credential'),
  });
  await call('PUT', `/api/relay/credentials/${String(first['id'])}`, {
    secret: plant('a replaced credential'),
  });
  await call('POST', '/api/relay/credentials', {
    provider_id,
    name: 'two',
    secret: { nested: plant('a nested credential') },
  });
  await call('POST', '/api/relay/credentials', {
    provider_id,
    name: 'two',
    secrets: plant('a misspelt credential'),
  });
  await call('POST', '/api/relay/providers', {
    name: 'With a password',
    base_url: `https://user:${plant('a password in an address')}@example.com/v1`,
    auth_mode: 'bearer_static',
    enabled: true,
  });
  provider.script({
    match: { path: 'models' },
    fault: { status: 401, body: { error: { message: plant('an answer to a test') } } },
  });
  await call('POST', `/api/relay/providers/${String(provider_id)}/test`);
  await call('POST', '/api/relay/guardrails', {
    name: 'Guard',
    preset_slug: 'custom-http',
    base_url: 'https://guard.example.com/check',
    http_method: 'POST',
    auth_mode: 'bearer_static',
    secret: plant('the secret of a guardrail'),
    pre_dispatch_enabled: true,
  });
  await applyFile(site, call);

  const key = await call('POST', '/api/account/api-keys', { name: 'Canary', scopes: ['relay:request'] });
  shown('a new key', secretOf(String(key['api_key'] ?? '')));
  const invited = await call('POST', '/api/org/invitations', {
    email: 'canary@example.com',
    role: 'developer',
  });
  const token = String(invited['accept_url'] ?? '').split('#token=')[1];
  shown('the token of an invitation', token);
  await signIn(site, answers, token ?? '');
}

async function applyFile({ canaries }: Site, call: (...ask: Ask) => Promise<Record<string, unknown>>) {
  const config = {
    version: 1,
    providers: [{ name: 'From the file', base_url: 'https://file.example.com/v1' }],
    credentials: [{ provider: 'from-the-file', name: 'main', secret_ref: 'env:FILE_KEY' }],
  };
  const { plan_hash } = await call('POST', '/api/relay/config/plan', { config });
  const secrets = { 'env:FILE_KEY': canaries.plant('a secret beside a file') };
  await call('POST', '/api/relay/config/apply', { config, plan_hash, secrets });
}

/** Passwords, sessions and second factors. */
async function signIn(site: Site, answers: Answers, token: string): Promise<void> {
  const { canaries } = site;
  const password = canaries.plant('a password');
  const enter = (body: unknown) => answers.browse('a browser', 'POST', '/api/session', body);
  await enter({ token: canaries.plant('a wrong token') });
  await enter({ email: 'canary@example.com', password: canaries.plant('a wrong password') });
  await answers.browse('a browser', 'POST', '/api/invitations/accept', { token, name: 'Canary', password });
  const { body, cookie } = await enter({ email: 'canary@example.com', password });
  if (cookie !== '') canaries.know('the cookie of a session', cookie);
  const csrf = String(body['csrf_token'] ?? '');
  const session = { cookie: `relay_session=${cookie}`, 'x-csrf-token': csrf };
  const setup = await answers.browse('a browser', 'POST', '/api/account/totp', { password }, session);
  const secret = /secret=([A-Z2-7]+)/.exec(String(setup.body['uri'] ?? ''))?.[1] ?? '';
  if (secret !== '') canaries.know('the secret of a second factor', secret);
  const next = canaries.plant('a new password');
  const change = { current_password: password, new_password: next };
  await answers.browse('a browser', 'POST', '/api/account/password', change, session);
  await answers.browse('a browser', 'DELETE', '/api/session', undefined, session);
}

/** What anybody may read of it all. */
export async function readEverything(site: Site, answers: Answers, stranger: Stranger): Promise<void> {
  const paths = [
    '/api/relay/requests?limit=100',
    '/api/relay/requests.csv',
    '/api/relay/stats/summary',
    '/api/relay/stats/timeseries',
    '/api/relay/audit-log?limit=100',
    '/api/relay/providers',
    '/api/relay/credentials',
    '/api/relay/guardrails',
    '/api/relay/config/export',
    '/api/account/api-keys',
    '/api/org/invitations',
    '/api/billing/history',
  ];
  for (const path of paths) {
    await answers.manage('the operator', site.adminToken, 'GET', path);
    await answers.manage('a stranger', stranger.key, 'GET', path);
  }
  for (const path of ['/metrics', '/healthz', '/readyz'])
    for (const { name, url } of site.processes) await answers.visit(`${name}${path}`, url + path);
}
