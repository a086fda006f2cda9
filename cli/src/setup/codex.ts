import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { setRootValue, setTable } from './toml-edit.ts';

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  fixedKeyVariable: null,
  path: ({ env, home }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
  edit(before, { baseUrl, lane, keyVariable }) {
    // Codex supports the Responses API only.
    const table = {
      name: 'Relay',
      base_url: baseUrl,
      env_key: keyVariable,
      wire_api: 'responses',
    };
    const withProvider = setTable(before ?? '', 'model_providers.relay', table);
    return setRootValue(setRootValue(withProvider, 'model_provider', 'relay'), 'model', lane);
  },
  next: ({ keyVariable }) => `export ${keyVariable} with your key before you start codex`,
};
