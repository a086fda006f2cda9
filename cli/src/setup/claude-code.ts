import { join } from 'node:path';
import { claudeCodeVariables } from '@relay/contract/client';
import { isObject } from '../kit/values.ts';
import type { Client } from './client.ts';
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
        `"env" with ${Object.keys(claudeCodeVariables(wish)).join(', ')}`,
      );
      const env = { ...objectIn(settings, 'env', FILE), ...claudeCodeVariables(wish) };
      return jsonText(before, { ...settings, env });
    },
    keyIn(before, server) {
      const { env } = readJsonSettings(before, FILE, '"env"');
      if (!isObject(env) || env['ANTHROPIC_BASE_URL'] !== server) return null;
      const key = env['ANTHROPIC_AUTH_TOKEN'];
      return typeof key === 'string' && key !== '' ? key : null;
    },
  },
  steps: () => 'Restart Claude Code; `/status` shows the address it calls.\n',
};
