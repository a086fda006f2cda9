import type { Random } from '../chaos/random.ts';
import type { Asked } from './ask.ts';
import { type Operation, operations, type Parameter } from './document.ts';
import { type Hints, valueFor } from './from-schema.ts';
import { judge } from './judge.ts';
import { bodyOf, mutatedToken, NASTY_TEXTS } from './mutate.ts';
import type { Ground } from './site.ts';
import type { InputContext, Outcome, Target } from './target.ts';

/** Applying a file with `prune` empties the organization, and signing out or leaving ends the session, for the rest of the batch. */
const RARE: readonly string[] = ['applyConfig', 'deleteSession', 'leaveOrganization'];
const HOSTED_SHARE = 0.15;

/** Every operation of the document, with parameters and a body that its schema allows, and then with faults in them. */
export const routesTarget: Target = {
  name: 'routes',
  weight: 50,
  async one(context) {
    const { random } = context;
    let operation = random.pick(operations);
    if (RARE.includes(operation.id) && random.chance(0.9)) operation = random.pick(operations);
    return send(context, operation);
  },
};

/** Cursors that were given out, changed by a character or more. */
export const cursorsTarget: Target = {
  name: 'cursors',
  weight: 6,
  async one(context) {
    const { random, ground } = context;
    const paged = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
    const operation = random.pick(paged);
    const cursors = (ground.hints['cursor'] ?? []) as readonly string[];
    const cursor = mutatedToken(random.pick(cursors), random);
    const path = `${pathOf(operation, random, ground.hints, true)}?limit=${random.between(1, 3)}&cursor=${encoded(cursor)}`;
    return exchange(context, operation, { method: operation.method, path, headers: bearer(ground.key) });
  },
};

async function send(context: InputContext, operation: Operation): Promise<Outcome> {
  const { random, ground } = context;
  const { hints } = ground;
  const path = pathOf(operation, random, hints, operation.method !== 'DELETE' || random.chance(0.1));
  const body = operation.body === null ? undefined : requestBody(operation, random, hints);
  const headers: Record<string, string> = { accept: 'application/json', ...callerOf(random, ground) };
  if (body !== undefined && random.chance(0.98)) headers['content-type'] = typeOf(random);
  if (random.chance(0.05)) headers['if-match'] = random.pick(['*', '"1"', 'W/"1"', '"', 'x'.repeat(300)]);
  if (random.chance(0.05)) headers['idempotency-key'] = random.pick(['a', 'b', 'x'.repeat(400), 'é', ' ']);
  const cuts = body !== undefined && random.chance(0.1) ? [random.between(0, body.length)] : undefined;
  const asked = {
    method: operation.method,
    path: path + queryOf(operation, random, hints),
    headers,
    body,
    cuts,
  };
  return exchange(context, operation, asked);
}

async function exchange(
  { site, random }: InputContext,
  operation: Operation,
  asked: Asked,
): Promise<Outcome> {
  const isHosted = random.chance(HOSTED_SHARE);
  const url = isHosted ? site.hosted.platform.url : site.selfHosted.url;
  const headers = isHosted ? { ...asked.headers, ...bearer(site.hosted.acme.key) } : asked.headers;
  const answer = await site.client.ask(url, { ...asked, headers });
  const shown = `${isHosted ? 'hosted ' : ''}${asked.method} ${asked.path} ${JSON.stringify(withoutSecrets(headers))} ${asked.body?.toString('utf8', 0, 400) ?? ''}`;
  return { verdict: judge(operation, answer), shown, status: answer.status };
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /authorization|cookie/.test(name) ? '…' : value]),
  );
}

function pathOf(operation: Operation, random: Random, hints: Hints, usesReal: boolean): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const real = hints[name] ?? [];
    if (usesReal && real.length > 0 && random.chance(0.7)) return encoded(String(random.pick(real)));
    // An empty part would make it another path.
    return encoded(
      random.pick([...NASTY_TEXTS.filter((text) => text !== ''), '01a1dfca-a849-7abe-b95f-f8281a444e38']),
    );
  });
}

function queryOf(operation: Operation, random: Random, hints: Hints): string {
  const declared = operation.parameters.filter((each) => each.in === 'query');
  const pairs = declared
    .filter(({ required }) => required || random.chance(0.3))
    .map((each) => `${each.name}=${encoded(textOf(each, random, hints))}`);
  // Inference passes queries on and has no list of them.
  if (!operation.path.startsWith('/v1/') && operation.path.startsWith('/api/') && random.chance(0.05))
    pairs.push(`${encoded(random.pick(NASTY_TEXTS))}=1`, ...pairs.slice(0, 1));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function textOf({ name, schema }: Parameter, random: Random, hints: Hints): string {
  if (random.chance(0.3)) return random.pick(NASTY_TEXTS);
  const value = valueFor(schema, random, hints, name);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function requestBody(operation: Operation, random: Random, hints: Hints): Buffer | undefined {
  if (operation.body === null || random.chance(0.03)) return undefined;
  return bodyOf(valueFor(operation.body, random, hints), random);
}

function typeOf(random: Random): string {
  if (random.chance(0.96)) return 'application/json';
  return random.pick([
    'text/plain',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    '*/*',
    'a',
  ]);
}

function callerOf(random: Random, { key, narrowKey, session }: Ground): Record<string, string> {
  if (random.chance(0.75)) return bearer(key);
  return random.pick<() => Record<string, string>>([
    () => ({ ...session }),
    () => ({ cookie: session['cookie'] ?? '' }),
    () => bearer(narrowKey),
    () => ({}),
    () => bearer(headerSafe(mutatedToken(key, random))),
  ])();
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** What an HTTP client can send in a header. */
export function headerSafe(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced.
  return text.replaceAll(/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/g, '?');
}

/** As part of a path or query; a lone surrogate goes out as the bytes that no decoder accepts. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ED%A0%80';
  }
}
