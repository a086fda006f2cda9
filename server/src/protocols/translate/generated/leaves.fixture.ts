import { isObject, parseObject } from '../../../kit/json-value.ts';

export interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

/** Every value that is not an object or a list. Texts that hold JSON or a data URL count as what they hold. */
function leavesOf(value: unknown, path = ''): readonly Leaf[] {
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => leavesOf(entry, `${path}[${index}]`));
  if (isObject(value))
    return Object.entries(value).flatMap(([name, member]) =>
      leavesOf(member, path === '' ? name : `${path}.${name}`),
    );
  if (typeof value !== 'string') return [{ path, value }];
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(value) ?? [];
  if (mediaType !== undefined && data !== undefined)
    return mediaType === 'text/plain'
      ? [{ path, value: Buffer.from(data, 'base64').toString() }]
      : [mediaType, data].map((held) => ({ path, value: held }));
  const parsed = value.startsWith('{') ? parseObject(value) : null;
  return parsed === null ? [{ path, value }] : leavesOf(parsed, path);
}

/** Leaves of the request that are neither in the body, nor named as left out, nor of a structural field. */
export function unnamed(
  request: unknown,
  body: unknown,
  leftOut: readonly string[],
  structural: readonly RegExp[],
): readonly string[] {
  const said = new Set(leavesOf(body).map(({ value }) => value));
  return leavesOf(request)
    .filter(({ value }) => value !== null && !said.has(value))
    .filter(({ path }) => !leftOut.some((field) => isWithin(path, field)))
    .filter(({ path, value }) => !structural.some((pattern) => pattern.test(`${path}=${String(value)}`)))
    .map(({ path, value }) => `${path}=${String(value)}`);
}

function isWithin(path: string, named: string): boolean {
  const field = named.replace(/ \(.*\)$/, '');
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}
