import { join } from 'node:path';
import { type Client, exportKey, type Wish } from './client.ts';
import { type JsonSettings, jsonText, objectIn, readJsonSettings } from './json-settings.ts';

const FILE = 'opencode.json';

export const opencode: Client = {
  name: 'opencode',
  title: 'opencode',
  fixedKeyVariable: null,
  file: {
    path: ({ env, home }) => join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode', FILE),
    edit(before, wish) {
      const byHand = `"provider": {"relay": ${JSON.stringify(provider({}, wish))}}`;
      const settings = readJsonSettings(before, FILE, byHand);
      const providers = objectIn(settings, 'provider', FILE);
      return jsonText(before, {
        $schema: 'https://opencode.ai/config.json',
        ...settings,
        model: `relay/${wish.model}`,
        provider: { ...providers, relay: provider(objectIn(providers, 'relay', FILE), wish) },
      });
    },
  },
  steps: (wish) => exportKey('opencode', wish),
};

/** Keeps the options and models that were added to it. */
function provider(known: JsonSettings, { baseUrl, model, keyVariable }: Wish): JsonSettings {
  return {
    ...known,
    npm: '@ai-sdk/openai-compatible',
    name: 'Relay',
    options: { ...objectIn(known, 'options', FILE), baseURL: baseUrl, apiKey: `{env:${keyVariable}}` },
    models: { [model]: { name: model }, ...objectIn(known, 'models', FILE) },
  };
}
