import { join } from 'node:path';
import type { Agent } from './agent.ts';

export const aider: Agent = {
  name: 'aider',
  title: 'aider',
  fixedKeyVariable: 'OPENAI_API_KEY',
  path: ({ home }) => join(home, '.aider.conf.yml'),
  edit(before, { baseUrl, lane }) {
    // The prefix selects aider's OpenAI-compatible client; the rest is the model.
    const withModel = setValue(before ?? '', 'model', `openai/${lane}`);
    return setValue(withModel, 'openai-api-base', baseUrl);
  },
  next: ({ keyVariable }) => `export ${keyVariable} with your key before you start aider`,
};

/** Sets a top-level key of a YAML text and keeps all other lines. */
function setValue(text: string, key: string, value: string): string {
  const line = `${key}: ${JSON.stringify(value)}`;
  const known = new RegExp(`^${key}:.*$`, 'm');
  if (known.test(text)) return text.replace(known, () => line);
  const body = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${body}${line}\n`;
}
