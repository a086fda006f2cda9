import { join } from 'node:path';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Agent } from './agent.ts';

const NEW_FILE = 'name: Local config\nversion: 1.0.0\nschema: v1\nmodels: []\n';

export const continueDev: Agent = {
  name: 'continue',
  title: 'Continue',
  fixedKeyVariable: null,
  path: ({ home }) => join(home, '.continue', 'config.yaml'),
  async edit(before, { baseUrl, lane, keyVariable }) {
    const { isMap, isSeq, parseDocument } = await import('yaml');
    const document = parseDocument(before === null || before.trim() === '' ? NEW_FILE : before);
    const [fault] = document.errors;
    if (fault !== undefined || !isMap(document.contents)) {
      const { line, col } = fault?.linePos?.[0] ?? { line: 1, col: 1 };
      throw new ProgramError(`config.yaml:${line}:${col} cannot be read as YAML.`, exitCodes.error, {
        fix: 'correct the file first',
      });
    }
    const model = {
      name: `Relay ${lane}`,
      provider: 'openai',
      model: lane,
      apiBase: baseUrl,
      // Continue's syntax: it resolves the name in its .env file.
      apiKey: `\${{ secrets.${keyVariable} }}`,
      roles: ['chat', 'edit', 'apply'],
    };
    const models = document.get('models');
    if (!isSeq(models)) document.set('models', document.createNode([model]));
    else {
      const known = models.items.findIndex((item) => isMap(item) && item.get('name') === model.name);
      if (known === -1) models.add(document.createNode(model));
      else models.items[known] = document.createNode(model);
      models.flow = false;
    }
    return document.toString({ lineWidth: 0 });
  },
  next: ({ keyVariable }) =>
    `put ${keyVariable}=your key into ~/.continue/.env, and keep that file to yourself: chmod 600`,
};
