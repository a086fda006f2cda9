import { keySnippets } from '@relay/contract/client';
import { callableNames } from '../api/callable-names.ts';
import type { Api } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';

const NO_MODEL = 'MODEL';

/** How to use a new key, on standard error: standard output has only the key. */
export async function showSnippets({ stderr }: Surroundings, api: Api, key: string): Promise<void> {
  // The key exists by now: without a list of names it is shown all the same.
  const [model = NO_MODEL] = await callableNames(api).catch(() => []);
  for (const { label, code } of keySnippets({ server: api.connection.server, key, model }))
    stderr.write(`\n${label}:\n\n${code.replaceAll(/^(?=.)/gm, '  ')}\n`);
  if (model === NO_MODEL)
    stderr.write(
      `\nReplace ${NO_MODEL} with a lane or model. None exists yet. Run: relay providers add PRESET\n`,
    );
}
