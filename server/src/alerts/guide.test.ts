import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { Secret } from '../kit/secret.ts';
import { webhookHeaders } from '../kit/sign-webhook.ts';

type Verify = (secret: string, headers: Record<string, string>, body: string) => unknown;

it('the guide shows receivers how to verify what Relay signs', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/alerts.md', import.meta.url), 'utf8');
  const code = /```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
  const { verifyWebhook } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    verifyWebhook: Verify;
  };
  const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
  const body = JSON.stringify({ id: 'a', used: 1 });
  const headersAt = (atMs: number) => {
    const list = webhookHeaders(new Secret(secret), 'a', atMs, body);
    return Object.fromEntries(
      list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? '']] : [])),
    );
  };
  const headers = headersAt(Date.now());
  assert.deepEqual(verifyWebhook(secret, headers, body), { id: 'a', used: 1 });
  assert.throws(() => verifyWebhook(secret, headers, `${body} `), /wrong signature/);
  assert.throws(() => verifyWebhook(secret, { ...headers, 'webhook-id': 'b' }, body), /wrong signature/);
  assert.throws(() => verifyWebhook(secret, headersAt(Date.now() - 600_000), body), /too old/);
});
