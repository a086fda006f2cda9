import type { Site } from './site.ts';
import { type Chapter, type Step, steps } from './step.ts';

const KEY_SCOPES = ['relay:request', 'relay:usage:read'];

/** What looks at what the chapters before have made, and takes it away at the end. */
export const lookChapters: readonly Chapter[] = [
  {
    name: 'keys',
    steps: () =>
      steps(
        { args: ['keys', 'create', '--name', 'App', '--scope', ...KEY_SCOPES] },
        'keys list',
        'keys rotate App',
        {
          args: ['keys', 'revoke', 'App', '--yes'],
          terminalArgs: ['keys', 'revoke', 'App'],
          typing: [['[y/N]', 'y\r']],
        },
        'keys list --all',
      ),
  },
  {
    name: 'chat',
    steps: () =>
      steps(
        'chat fast hello there',
        'chat fast hello there --no-stream',
        {
          args: ['chat', 'fast'],
          stdin: 'hello from a pipe\n',
          terminalArgs: ['chat', 'fast'],
          typing: [
            ['> ', 'hello\r'],
            ['waited', '/exit\r'],
          ],
        },
        { args: ['chat', 'fast', 'hello', '-o', 'json'] },
      ),
  },
  {
    name: 'explain',
    steps: () =>
      steps(
        'explain fast',
        'explain fast --file body.yaml',
        'explain nothing',
        'explain fast --operation embeddings',
      ).map(refusing),
  },
  { name: 'bench', steps: () => [benchStep] },
  {
    name: 'usage',
    steps: async ({ deployment }) => {
      await untilCounted(deployment, 4 + 6);
      return steps(
        'usage --group-by lane --since 3d',
        'usage --since 30m --until 20m',
        'usage --bucket day --since 3d -o ndjson',
        'usage replay --help',
        'usage export --help',
        'showback --group-by model --since 3d',
        'showback --group-by label:app --since 3d --csv',
      );
    },
  },
  {
    name: 'reconcile',
    steps: () =>
      steps(
        { args: ['reconcile', 'openai-usage.json', '--provider', 'sim-one'], code: 1 },
        { args: ['reconcile', 'openai-usage.json', '--provider', 'sim-one', '--json'], code: 1 },
        { args: ['reconcile', 'limit.json'], code: 2 },
      ),
  },
  {
    name: 'requests',
    steps: async (site) => {
      const id = await settledRequest(site);
      return steps('requests list --limit 1 --lane fast --state completed', `requests get ${id}`, {
        args: ['requests', 'tail', '--count', '1', '--model', 'fast'],
        beside: (isOver) => traffic(site, isOver),
      });
    },
  },
  { name: 'doctor', steps: () => steps('doctor', 'doctor --json') },
  {
    name: 'setup',
    steps: () =>
      steps(
        'setup',
        ...['claude-code', 'codex', 'cursor', 'openai-sdk'].map((client) => `setup ${client}`),
        { args: ['setup', 'openai-sdk', '--model', 'fast', '--key', 'rly_given', '--show-key'] },
        ...['claude-code', 'codex', 'opencode', 'aider', 'continue'].flatMap((client) => [
          `setup ${client} --model fast --write`,
          `setup ${client} --undo`,
        ]),
      ),
  },
  {
    name: 'config',
    steps: () =>
      steps(
        'config validate relay.yaml',
        { args: ['config', 'diff', 'relay.yaml'], code: 5 },
        { args: ['config', 'apply', 'relay.yaml', '--yes'] },
        'config diff relay.yaml',
        'what-if --help',
        'config export',
        'lanes get from-file',
        { args: ['lanes', 'delete', 'from-file', '--yes'], code: 1 },
        { args: ['config', 'apply', 'empty.yaml', '--prune', '--yes'] },
      ),
  },
  {
    name: 'operations',
    steps: ({ deployment }) => {
      const env = { DATABASE_URL: deployment.postgres.url };
      return steps(
        { args: ['migrate', 'status'], env },
        { args: ['migrate', 'up'], env },
        { args: ['users', 'reset-password', 'nobody@example.com'], env, code: 4 },
        ...['status', 'go', 'back', 'finish'].map((step) => ({
          args: ['rotate-key', step],
          env: { ...deployment.env },
        })),
        { args: ['rotate-key', 'reset'], env: { ...deployment.env }, code: 1 },
        'context-key',
      );
    },
  },
  {
    name: 'help',
    steps: () =>
      steps(
        '--help',
        'start --help',
        'serve --help',
        'demo traffic --help',
        'config schema --help',
        'config import litellm --help',
        'completion --help',
        'lanes create --help',
      ),
  },
  {
    name: 'delete',
    steps: () =>
      steps(
        {
          args: ['lanes', 'delete', 'fast', '--yes'],
          terminalArgs: ['lanes', 'delete', 'fast'],
          typing: [['[y/N]', 'y\r']],
        },
        ...['small', 'large'].map((name) => `endpoints delete ${name} --yes`),
        ...['sim-one', 'sim-two'].map((name) => `providers delete ${name} --yes`),
      ),
  },
  {
    name: 'add',
    steps: ({ deployment: { provider } }) =>
      steps(
        { args: ['providers', 'add', 'nowhere', '--secret-env', 'PROVIDER_KEY'], code: 2 },
        { args: ['providers', 'add', 'azure-openai', '--secret-env', 'PROVIDER_KEY'], code: 2 },
        {
          args: [
            ...['providers', 'add', 'openai', '--base-url', provider.baseUrl, '--secret-env', 'PROVIDER_KEY'],
            ...['--name', 'Added', '--model', 'gpt-4o-mini', '--lane', 'added'],
          ],
        },
        'chat added hello',
      ),
  },
];

const benchStep: Step = {
  args: ['bench', 'fast', '--requests', '6', '--yes'],
  terminalArgs: ['bench', 'fast', '--requests', '6'],
  typing: [['[y/N]', 'y\r']],
};

/** Nothing of that name; and an endpoint that serves chat alone does not embed, while the other one does. */
function refusing(step: Step): Step {
  return step.args.includes('nothing') ? { ...step, code: 4 } : step;
}

/** What the chapters before have sent is in the sums. */
async function untilCounted(deployment: Site['deployment'], requests: number): Promise<void> {
  for (;;) {
    const { body } = await deployment.admin.call('GET', '/api/relay/stats/summary');
    if ((body as { requests: number }).requests >= requests) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** One request that is over and in the ledger, the only one of its model name. */
async function settledRequest({ deployment }: Site): Promise<string> {
  const id = await send(deployment, 'fast');
  for (;;) {
    const { status } = await deployment.admin.call('GET', `/api/relay/requests/${id}`);
    if (status === 200) return id;
  }
}

/** A tail shows what finishes after it began to look, and nothing says from outside when that is. */
async function traffic({ deployment }: Site, isOver: () => boolean): Promise<void> {
  while (!isOver()) await send(deployment, 'fast');
}

async function send(deployment: Site['deployment'], model: string): Promise<string> {
  const response = await fetch(`${deployment.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello there' }] }),
  });
  await response.arrayBuffer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  return response.headers.get('x-request-id') ?? '';
}
