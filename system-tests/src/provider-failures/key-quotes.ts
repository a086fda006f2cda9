import { randomBytes } from 'node:crypto';
import type { Fault } from '@relay/provider-sim';
import type { FailureRow } from './failure-rows.ts';

/** A credential as providers issue them: no two share more than their beginning. */
export function newKey(): string {
  return `sk-${randomBytes(12).toString('hex')}`;
}

/** The forms in which providers show a key. */
function shownForms(key: string): string[] {
  return [
    key,
    `${key.slice(0, 6)}...${key.slice(-4)}`,
    `********${key.slice(-4)}`,
    `${key.slice(0, 8)}••••`,
    key.slice(3, 12),
  ];
}

/** Whether a text tells anything of the key: a form of it, or eight characters in a row. */
export function tellsOf(text: string, key: string): boolean {
  if (shownForms(key).some((form) => text.includes(form))) return true;
  for (let at = 3; at + 8 <= key.length; at += 1) if (text.includes(key.slice(at, at + 8))) return true;
  return false;
}

const quoting = (forms: readonly string[]) =>
  JSON.stringify({ error: { message: `Key ${forms.join(', ')}`, type: 'x' } });

/** The body of every error: it shows the key that the provider was sent, in all forms. */
export const errorBody = (key: string) => quoting(shownForms(key));
/** The same as a client may see it. */
export const cleanBody = () => quoting(shownForms('').map(() => '[redacted]'));

const frame = (body: string) => `data: ${body}\n\n`;
const errorFrame = (key: string) => frame(errorBody(key));
export const cleanFrame = () => frame(cleanBody());

/** Headers that would lead the client elsewhere, set something at it, or show the key. */
export function steeringHeaders(key: string, elsewhere: string): Record<string, string> {
  return {
    location: elsewhere,
    refresh: `0; url=${elsewhere}`,
    link: `<${elsewhere}>; rel="canonical"`,
    'content-location': elsewhere,
    'alt-svc': 'h2="127.0.0.1:9"',
    'set-cookie': `key=${key}`,
    'www-authenticate': `Bearer realm="${key}"`,
    'proxy-authenticate': `Basic realm="${key}"`,
    'x-api-key': key,
    'openai-organization': key,
    'openai-version': key,
  };
}

/** What the provider does: the row's fault, with an error that shows the key and headers that steer. */
export function nastyFault({ fault, outcome, silent }: FailureRow, key: string, elsewhere: string): Fault {
  if (outcome.kind === 'held')
    return { rawFrames: [errorFrame(key)], headers: steeringHeaders(key, elsewhere) };
  if (outcome.kind === 'lost' && outcome.status === null) return fault;
  const body = fault.html200 === true || fault.status === undefined ? {} : { body: errorBody(key) };
  return { ...fault, ...(silent === true ? {} : body), headers: steeringHeaders(key, elsewhere) };
}
