import { type Chapter, steps } from './step.ts';

/** What is made here stays until the last chapter, which takes it away again. */
export const setUpChapters: readonly Chapter[] = [
  {
    name: 'login',
    steps: ({ deployment: { url, adminToken, apiToken } }) =>
      steps(
        { args: ['whoami'], code: 2, isBare: true },
        {
          args: ['login', `${url}/v1/`, '--token-stdin'],
          stdin: `${adminToken}\n${apiToken}\n`,
          terminalArgs: ['login'],
          typing: [
            ['Server', `${url}\r`],
            ['Token', `${adminToken}\r`],
            ['skip', `${apiToken}\r`],
          ],
          isBare: true,
        },
        { args: ['whoami'], isBare: true },
        { args: ['whoami', '-o', 'yaml'], isBare: true },
        { args: ['logout'], isBare: true },
        { args: ['logout'], code: 4, isBare: true },
      ),
  },
  {
    name: 'providers',
    steps: ({ deployment: { provider } }) =>
      steps(
        'providers list',
        { args: ['providers', 'create', '--name', 'Sim One', '--base-url', provider.baseUrl] },
        'providers create --file second.yaml',
        'providers list',
        { args: ['providers', 'test', 'sim-one'], code: 1 },
        {
          args: ['providers', 'set-credential', 'Sim One', '--secret-stdin'],
          stdin: 'sk-upstream\n',
          terminalArgs: ['providers', 'set-credential', 'Sim One', '--secret-env', 'PROVIDER_KEY'],
        },
        'providers set-credential sim-two --secret-env PROVIDER_KEY',
        'providers test sim-one',
        { args: ['providers', 'update', 'sim-one', '--base-url', `${provider.baseUrl}/elsewhere`] },
        { args: ['providers', 'test', 'sim-one'], code: 1 },
        { args: ['providers', 'update', 'sim-one', '--base-url', provider.baseUrl] },
        'providers update sim-one --timeout 30s',
        'providers get sim-one',
        'providers list -o csv',
        'providers presets',
        'providers create --preset openrouter',
        { args: ['providers', 'create', '--name', 'Typo', '--preset', 'gorq'], code: 2 },
        'providers delete openrouter --yes',
      ),
  },
  {
    name: 'endpoints',
    steps: () =>
      steps(
        'endpoints create --provider sim-one --name Small --upstream-model gpt-4o-mini --route-kind multi',
        'endpoints create --provider sim-two --name Large --upstream-model gpt-4o --route-kind chat --no-supports-streaming',
        'endpoints list',
        'endpoints set-price large --input-price 2.50 --output-price $10',
        'endpoints set-price small --input-price 0.15 --output-price 0.60',
        'endpoints update large --supports-streaming --max-concurrency 10',
        'endpoints get large',
        'endpoints test small',
        'endpoints import sim-two --model gpt-4o-mini',
        { args: ['endpoints', 'import', 'sim-two', '--model', 'gpt-4o-mini'], code: 2 },
        'endpoints delete gpt-4o-mini --yes',
      ),
  },
  {
    name: 'prices',
    steps: () =>
      steps(
        'prices list',
        'providers create --name Listed --preset openai',
        'endpoints create --provider listed --name Listed --upstream-model listed-model --route-kind multi',
        { args: ['prices', 'import', 'prices.json', '--as-of', '2026-11-01', '--dry-run'], code: 5 },
        'prices import prices.json --as-of 2026-11-01 --yes',
        'prices import dearer-prices.json --as-of 2026-11-02 --yes',
        'prices import dearer-prices.json --as-of 2026-11-02 --yes --accept listed-model',
        { args: ['prices', 'import', 'empty.yaml', '--yes'], code: 2 },
        'endpoints delete listed --yes',
        'providers delete listed --yes',
        'prices import --catalog --yes',
      ),
  },
  {
    name: 'lanes',
    steps: () =>
      steps(
        'lanes create --name Fast --wait-budget 2s',
        'lanes endpoints list fast',
        'lanes endpoints add fast large small',
        'lanes endpoints reorder fast small',
        'lanes endpoints remove fast large',
        'lanes endpoints add fast large',
        'lanes update fast --description quick',
        'lanes get fast',
        'lanes list',
        'lanes test fast',
      ),
  },
  {
    name: 'limits',
    steps: () =>
      steps(
        'limits list',
        'limits create --scope-type lane --scope fast --metric requests --period day --limit-value 100000',
        'limits create --file limit.json',
        'limits create --scope-type lane --scope fast --spend 50 --period month',
        'limits list',
        'limits usage',
      ),
  },
  {
    name: 'teams',
    steps: () =>
      steps(
        'teams list',
        'teams create --name Company --kind cost_center',
        'teams create --name Search --parent company',
        'teams update search --kind project',
        'teams get search',
        'teams list',
        'keys create --name Searcher --team search --label app=search env=prod',
        'keys list',
        'keys revoke Searcher --yes',
        'teams delete search --yes',
      ),
  },
  {
    name: 'one-limit',
    steps: async ({ deployment: { admin } }) => {
      const { body } = await admin.call('GET', '/api/relay/limit-policies');
      const daily = (body as { id: string; period: string }[]).find(({ period }) => period === 'day');
      const id = daily?.id ?? '';
      return steps(
        `limits get ${id}`,
        `limits update ${id} --limit-value 200000`,
        `limits test ${id}`,
        `limits delete ${id} --yes`,
      );
    },
  },
  {
    name: 'alerts',
    steps: ({ guardUrl }) =>
      steps(
        'alert-destinations list',
        { args: ['alert-destinations', 'create', '--name', 'Pager', '--kind', 'webhook', '--url', guardUrl] },
        'alert-destinations list',
        'alert-destinations get Pager',
        'alert-destinations test Pager',
        'alert-destinations update Pager --no-enabled',
        'limits create --scope-type lane --scope fast --metric requests --period month --limit-value 100000 --alert-at 80,50',
        'alerts list',
        'alert-destinations delete Pager --yes',
      ),
  },
  {
    name: 'guardrails',
    steps: ({ guardUrl }) =>
      steps(
        'guardrails presets',
        { args: ['guardrails', 'create', '--name', 'Kind Words', '--base-url', guardUrl] },
        'guardrails bind kind-words --lane fast',
        'guardrails update kind-words --enabled --failure-mode fail_open',
        'guardrails get kind-words',
        'guardrails list',
        'guardrails test kind-words --text hello',
        'guardrails unbind kind-words --lane fast',
        {
          args: ['guardrails', 'delete', 'kind-words', '--yes'],
          terminalArgs: ['guardrails', 'delete', 'kind-words'],
          typing: [['[y/N]', 'y\r']],
        },
      ),
  },
];
