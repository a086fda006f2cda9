import { join } from 'node:path';
import type { Client } from './client.ts';
import { readYamlSettings } from './yaml-settings.ts';

const FILE = 'config.yaml';
const NEW_FILE = 'name: Local config\nversion: 1.0.0\nschema: v1\nmodels: []\n';

export const continueDev: Client = {
  name: 'continue',
  title: 'Continue',
  fixedKeyVariable: null,
  file: {
    path: ({ home }) => join(home, '.continue', FILE),
    async edit(before, { baseUrl, model: lane, keyVariable }) {
      const { isMap, isSeq } = await import('yaml');
      const document = await readYamlSettings(
        before === null || before.trim() === '' ? NEW_FILE : before,
        FILE,
      );
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
  },
  steps: ({ keyVariable, key }) =>
    `In ~/.continue/.env, readable only by you (chmod 600):\n\n  ${keyVariable}=${key}\n`,
};
