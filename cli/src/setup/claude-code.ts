import { join } from 'node:path';
import { isObject } from '../kit/values.ts';
import type { Client, Wish } from './client.ts';
import { jsonText, objectIn, readJsonSettings } from './json-settings.ts';

const FILE = 'settings.json';

export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  fixedKeyVariable: 'ANTHROPIC_AUTH_TOKEN',
  file: {
    path: ({ env, home }) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), FILE),
    edit(before, wish) {
      const settings = readJsonSettings(
        before,
        FILE,
        `"env" with ${Object.keys(variables(wish)).join(', ')}`,
      );
      const env = { ...objectIn(settings, 'env', FILE), ...variables(wish) };
      return jsonText(before, { ...settings, env });
    },
    keyIn(before, server) {
      const { env } = readJsonSettings(before, FILE, '"env"');
      if (!isObject(env) || env['ANTHROPIC_BASE_URL'] !== server) return null;
      const key = env['ANTHROPIC_AUTH_TOKEN'];
      return typeof key === 'string' && key !== '' ? key : null;
    },
  },
  steps: () => 'Start Claude Code again; `/status` in it shows the address it calls.\n',
};

/** Claude Code has a model for each of its tiers, and calls the small one in the background. */
function variables({ server, model, key }: Wish): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: server,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  };
}
