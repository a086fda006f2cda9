import { headers } from '@relay/contract';
import type { Site, Tenant } from './site.ts';

/** More than any model writes. */
const LIED_TOKENS = 1_000_000;
/** Both organizations call it past their lanes, by the same name. */
const MODEL = 'sim-chat';

/** The estimate of one organization before and after another has been told of enormous answers by a model of the same name. */
export async function learnAcross({
  deployment,
  good,
  evil,
}: Site): Promise<{ before: string; after: string }> {
  // The first answer teaches the organization itself.
  await estimate(deployment.url, good, {});
  const before = await estimate(deployment.url, good, {});
  for (let count = 0; count < 3; count += 1)
    await estimate(deployment.url, evil, { reported_tokens: LIED_TOKENS });
  return { before, after: await estimate(deployment.url, good, {}) };
}

async function estimate(url: string, { key }: Tenant, more: object): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], ...more }),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the request was answered ${response.status}`);
  return response.headers.get(headers.estimatedOutputTokens) ?? '';
}
