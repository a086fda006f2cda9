import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hideSecrets } from './hide-secrets.ts';

describe('settings on the screen', () => {
  const lines: readonly (readonly [line: string, shown: string])[] = [
    ['"ANTHROPIC_AUTH_TOKEN": "rly_mine",', '"ANTHROPIC_AUTH_TOKEN": "(your key)",'],
    ['"ANTHROPIC_AUTH_TOKEN": "rly_old"', '"ANTHROPIC_AUTH_TOKEN": "(hidden)"'],
    [
      '{"a_key":"x\\"y","b":"c","Authorization":"Bearer z"}',
      '{"a_key":"(hidden)","b":"c","Authorization":"(hidden)"}',
    ],
    ['env_key = "RELAY_API_KEY"', 'env_key = "RELAY_API_KEY"'],
    ['AWS_SECRET = "AKIAIOSFODNN7EXAMPLE"', 'AWS_SECRET = "(hidden)"'],
    ['openai-api-key: sk-123 # mine', 'openai-api-key: "(hidden)" # mine'],
    ['"apiKey": "{env:RELAY_API_KEY}"', '"apiKey": "{env:RELAY_API_KEY}"'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Continue's syntax.
    ['apiKey: ${{ secrets.A_KEY }}', 'apiKey: ${{ secrets.A_KEY }}'],
    ['max_tokens = 4096', 'max_tokens = 4096'],
    ['base_url = "http://127.0.0.1/v1"', 'base_url = "http://127.0.0.1/v1"'],
  ];
  for (const [line, shown] of lines) {
    it(`shows ${shown}`, () => assert.equal(hideSecrets(line, 'rly_mine'), shown));
  }
});
