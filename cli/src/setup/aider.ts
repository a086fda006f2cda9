import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { type Client, exportKey } from './client.ts';
import { readYamlSettings } from './yaml-settings.ts';

const FILE = '.aider.conf.yml';

export const aider: Client = {
  name: 'aider',
  title: 'aider',
  fixedKeyVariable: 'OPENAI_API_KEY',
  file: {
    path: ({ home }) => join(home, FILE),
    async edit(before, { baseUrl, model }) {
      // The prefix selects aider's OpenAI-compatible client; the rest is the model.
      const settings = { model: `openai/${model}`, 'openai-api-base': baseUrl };
      const known = isEmpty(before) ? {} : (await readYamlSettings(before, FILE)).toJS();
      let after = before ?? '';
      for (const [key, value] of Object.entries(settings)) after = setValue(after, key, value);
      if (!isDeepStrictEqual((await readYamlSettings(after, FILE)).toJS(), { ...known, ...settings }))
        throw new ProgramError(
          `${FILE} has these settings in a form that Relay can't change safely.`,
          exitCodes.error,
          { fix: `Write each of ${Object.keys(settings).join(', ')} on one line, and try again.` },
        );
      return after;
    },
  },
  steps: (wish) => exportKey('aider', wish),
};

/** Without settings: comments alone. */
function isEmpty(text: string | null): text is null {
  return text === null || text.replaceAll(/^\s*(#.*|---\s*)?$/gm, '').trim() === '';
}

/** Sets a top-level key of a YAML text and keeps all other lines. */
function setValue(text: string, key: string, value: string): string {
  const line = `${key}: ${JSON.stringify(value)}`;
  const known = new RegExp(`^${key}:.*$`, 'm');
  if (known.test(text)) return text.replace(known, () => line);
  const body = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${body}${line}\n`;
}
