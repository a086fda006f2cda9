import { allRoutes, type Route } from '@relay/contract';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { signedIn } from '../harness/signed-in.ts';
import { NO_ID } from './answer.ts';
import type { World } from './world.ts';

/** An identity provider adds parameters of its own to the address it sends people back to. */
const strict = allRoutes.filter(({ plane, id }) => plane === 'management' && id !== 'finishSso');
const bodiless = allRoutes.filter(
  ({ plane, method, id, body, bodyOptional }) =>
    plane === 'management' &&
    method !== 'GET' &&
    id !== 'deleteSession' &&
    (body === undefined || bodyOptional === true),
);
/** Ways in which clients say that there is no body. */
const EMPTY: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json', 'content-length': '0' },
  { 'content-type': 'application/json; charset=utf-8', 'transfer-encoding': 'chunked' },
];

/** Every management route, by the operator's browser: queries that it does not have or twice, and no body in each way. */
export async function tryCarelessClients({ walk, deployment }: World): Promise<void> {
  const operator = await signedIn(deployment);
  const send = ({ method, path }: Route, query = '', headers: Readonly<Record<string, string>> = {}) =>
    exchangeRaw({
      url: walk.url + path.replaceAll(/\{\w+\}/g, NO_ID) + query,
      method,
      headers: { accept: 'application/json', ...operator, ...headers },
    });
  for (const route of strict) {
    const known = parametersOf(route.query);
    const unknown = await send(route, '?surprise=1');
    if (known.some((name) => !unknown.body.includes(name)) || !refuses(unknown, 'surprise'))
      walk.fault(`${route.id} with an unknown parameter is ${unknown.status} ${unknown.body}`);
    const [name] = known;
    if (name === undefined) continue;
    const twice = await send(route, `?${name}=1&${name}=2`);
    if (!refuses(twice, name) || !twice.body.includes('more than once'))
      walk.fault(`${route.id} with ${name} twice is ${twice.status} ${twice.body}`);
  }
  for (const route of bodiless) {
    for (const headers of EMPTY) {
      const answer = await send(route, '', headers);
      if (answer.status === 415 || errorOf(answer).code === 'invalid_json')
        walk.fault(`${route.id} with ${JSON.stringify(headers)} is ${answer.status} ${answer.body}`);
    }
  }
}

function errorOf({ body }: RawAnswer): { readonly code?: string; readonly param?: string } {
  if (body.length === 0) return {};
  return (JSON.parse(body.toString()) as { error?: { code: string; param: string } }).error ?? {};
}

function refuses(answer: RawAnswer, param: string): boolean {
  return (
    answer.status === 400 && errorOf(answer).code === 'invalid_request' && errorOf(answer).param === param
  );
}

function parametersOf(query: Route['query']): string[] {
  const { properties } = (query ?? {}) as { properties?: object };
  return Object.keys(properties ?? {});
}
