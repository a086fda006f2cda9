import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { codexSettings } from '@relay/contract/client';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { isObject } from '../kit/values.ts';
import { type Client, exportKey } from './client.ts';
import { setTomlValue } from './toml-edit.ts';

const TABLE = 'model_providers.relay';

export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  fixedKeyVariable: null,
  file: {
    path: ({ env, home }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    async edit(before, wish) {
      const { root, provider } = codexSettings(wish);
      const known = await parsed(before ?? '');
      let after = before ?? '';
      // Each new one is put first.
      for (const [key, value] of Object.entries(root).reverse())
        after = setTomlValue(after, null, key, value);
      for (const [key, value] of Object.entries(provider)) after = setTomlValue(after, TABLE, key, value);
      const meant = await parsed(after).catch(() => null);
      if (!isDeepStrictEqual(plain(meant), plain(merged(known, root, provider))))
        throw new ProgramError(
          'config.toml has these settings in a form that Relay can’t change safely.',
          exitCodes.error,
          {
            fix: `Write them as a table [${TABLE}], or remove them, and try again.`,
          },
        );
      return after;
    },
  },
  steps: (wish) => exportKey('Codex', wish),
};

type Toml = Readonly<Record<string, unknown>>;

/** What the edit has to mean: everything else stays. */
function merged(known: Toml, root: Toml, provider: Toml): Toml {
  const providers = inside(known, 'model_providers');
  const relay = { ...inside(providers, 'relay'), ...provider };
  return { ...known, ...root, model_providers: { ...providers, relay } };
}

function inside(table: Toml, key: string): Toml {
  const value = table[key];
  return isObject(value) ? value : {};
}

/** Without the parser's own prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function parsed(text: string): Promise<Toml> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ProgramError(`config.toml:${error.line}:${error.column} is not valid TOML.`, exitCodes.error, {
      fix: 'Correct the file first.',
    });
  }
}
