import { join } from 'node:path';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { isObject } from '../kit/values.ts';
import type { Agent, Wish } from './agent.ts';

interface Settings {
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly [other: string]: unknown;
}

export const opencode: Agent = {
  name: 'opencode',
  title: 'opencode',
  fixedKeyVariable: null,
  path: ({ env, home }) => join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode', 'opencode.json'),
  edit(before, wish) {
    const settings = before === null || before.trim() === '' ? {} : parse(before, wish);
    const changed = {
      $schema: 'https://opencode.ai/config.json',
      ...settings,
      model: `relay/${wish.lane}`,
      provider: { ...settings.provider, relay: provider(wish) },
    };
    const indent = /^([ \t]+)"/m.exec(before ?? '')?.[1] ?? '  ';
    return `${JSON.stringify(changed, null, indent)}\n`;
  },
  next: ({ keyVariable }) => `export ${keyVariable} with your key before you start opencode`,
};

function provider({ baseUrl, lane, keyVariable }: Wish) {
  return {
    npm: '@ai-sdk/openai-compatible',
    name: 'Relay',
    options: { baseURL: baseUrl, apiKey: `{env:${keyVariable}}` },
    models: { [lane]: { name: lane } },
  };
}

/** Rejects files with comments, because rewriting would lose them. */
function parse(text: string, wish: Wish): Settings {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new ProgramError(
    'opencode.json is not plain JSON; it may hold comments, which would be lost.',
    exitCodes.error,
    {
      fix: `add this below "provider" by hand: "relay": ${JSON.stringify(provider(wish))}`,
    },
  );
}
