import { type Chapter, steps } from './step.ts';

/** What is made here stays until the last chapter, which takes it away again. */
export const setUpChapters: readonly Chapter[] = [
  {
    name: 'login',
    steps: ({ deployment: { url, adminToken, apiToken } }) =>
      steps(
        { args: ['whoami'], code: 2, isBare: true },
        {
          args: ['login', '--server', `${url}/v1/`, '--token-stdin'],
          stdin: `${adminToken}\n${apiToken}\n`,
          terminalArgs: ['login'],
          typing: [
            ['Server', `${url}\r`],
            ['Token', `${adminToken}\r`],
            ['go without', `${apiToken}\r`],
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
        'providers update sim-one --max-latency-ms 30000',
        'providers get sim-one',
        'providers list -o csv',
        'providers presets',
        'providers create --name Router --preset openrouter',
        { args: ['providers', 'create', '--name', 'Typo', '--preset', 'gorq'], code: 2 },
        'providers delete router --yes',
      ),
  },
  {
    name: 'endpoints',
    steps: () =>
      steps(
        'endpoints create --provider sim-one --name Small --upstream-model gpt-4o-mini --route-kind multi',
        'endpoints create --provider sim-two --name Large --upstream-model gpt-4o --route-kind chat --no-supports-streaming',
        'endpoints list',
        'endpoints set-price large --input-cost-micros-per-1m-tokens 2500000 --output-cost-micros-per-1m-tokens 10000000',
        'endpoints set-price small --input-cost-micros-per-1m-tokens 150000 --output-cost-micros-per-1m-tokens 600000',
        'endpoints update large --supports-streaming --max-concurrency 10',
        'endpoints get large',
        'endpoints test small',
      ),
  },
  {
    name: 'lanes',
    steps: () =>
      steps(
        'lanes create --name Fast --default-max-wait-ms 2000',
        'lanes members list fast',
        'lanes members add fast large small',
        'lanes members reorder fast small',
        'lanes members remove fast large',
        'lanes members add fast large',
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
        'limits list',
        'limits usage',
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
