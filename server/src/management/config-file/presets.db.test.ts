import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { refusal } from '../fixture.ts';
import { configFileRoom } from './config-file.fixture.ts';

describe('presets in the configuration file', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  it('fill in what an item leaves out, and an export leaves it out again', async () => {
    const file: ConfigFile = {
      version: 1,
      providers: [
        {
          slug: 'azure',
          name: 'Azure',
          base_url: 'https://contoso.openai.azure.com/openai',
          preset_slug: 'azure-openai-classic',
        },
        { slug: 'groq', name: 'Groq', preset_slug: 'groq' },
        { slug: 'quiet', name: 'Quiet', preset_slug: 'openrouter', extra_headers: null },
        {
          slug: 'router',
          name: 'Router',
          preset_slug: 'openrouter',
          extra_headers: { 'X-Title': 'App', 'HTTP-Referer': 'https://example.com' },
          extra_query: { b: '1', a: '2' },
        },
      ],
    };
    const caller = await empty();
    await apply(caller, file);
    assert.deepEqual(await exported(caller), file);
    assert.deepEqual((await plan(caller, file)).changes, []);
    const { body: stored } = await room().call('listProviders', caller);
    assert.deepEqual(
      stored
        .toSorted((a, b) => a.slug.localeCompare(b.slug))
        .map(({ base_url, auth_mode, extra_headers, extra_query }) => [
          ...[base_url, auth_mode, extra_headers, extra_query],
        ]),
      [
        ['https://contoso.openai.azure.com/openai', 'header_static', null, { 'api-version': '2024-10-21' }],
        ['https://api.groq.com/openai/v1', 'bearer_static', null, null],
        ['https://openrouter.ai/api/v1', 'bearer_static', null, null],
        [
          'https://openrouter.ai/api/v1',
          'bearer_static',
          { 'X-Title': 'App', 'HTTP-Referer': 'https://example.com' },
          { b: '1', a: '2' },
        ],
      ],
    );
  });

  it('are refused by the position of the item when placeholders or the base URL are missing', async () => {
    const caller = await empty();
    const one = (item: object) => apply(caller, { version: 1, providers: [{ name: 'P', ...item }] });
    const at = 'providers[0].base_url';
    await assert.rejects(
      one({ preset_slug: 'azure-openai' }),
      refusal('invalid_request', at, /\{resource\}/),
    );
    await assert.rejects(one({}), refusal('invalid_request', at, /base_url is missing/));
  });
});
