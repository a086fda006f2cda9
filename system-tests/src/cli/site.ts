import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

/** A deployment with a guardrail service, and a home folder to run commands in. */
export interface Site {
  readonly deployment: Deployment;
  readonly guardUrl: string;
  readonly home: string;
  /** The server and both tokens, as an operator has them in the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The same without them: not logged in. */
  readonly bareEnv: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const AUTH_SECRET = 'q8Zr2vTn5LwXk1Ys7Bd4Hf9Jc3Mp6Ga0Ue8Ri2oVt5K';

export async function startSite(): Promise<Site> {
  const deployment = await startDeployment({
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: AUTH_SECRET },
    provider: { anonymous: true },
  });
  const guard = await startGuard();
  const home = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  const bareEnv = {
    ...bareEnvironment(),
    HOME: home,
    LANG: 'C.UTF-8',
    PROVIDER_KEY: 'sk-upstream',
  };
  for (const [name, text] of Object.entries(filesOf(deployment.provider.baseUrl))) {
    writeFileSync(join(home, name), text);
  }
  return {
    deployment,
    guardUrl: guard.url,
    home,
    bareEnv,
    env: {
      ...bareEnv,
      RELAY_SERVER: deployment.url,
      RELAY_ADMIN_TOKEN: deployment.adminToken,
      RELAY_API_TOKEN: deployment.apiToken,
    },
    async stop() {
      await Promise.all([deployment.stop(), guard.stop()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export const authSecret = AUTH_SECRET;

/** What lies in the home folder, for the commands that read a file. */
function filesOf(baseUrl: string): Readonly<Record<string, string>> {
  return {
    'second.yaml': `name: Sim Two\nbase_url: ${baseUrl}\nauth_mode: bearer_static\n`,
    'limit.json': '{"scope_type":"global","metric":"concurrency","period":"none","limit_value":50}',
    'body.yaml': 'messages:\n  - role: user\n    content: a longer question\nmax_tokens: 20\n',
    'relay.yaml': 'version: 1\nlanes:\n  - name: From File\n    default_max_wait_ms: 1000\n',
    'empty.yaml': 'version: 1\n',
    'prices.json':
      '{"listed-model":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":2e-06,"output_cost_per_token":8e-06,"cache_read_input_token_cost":5e-07,"input_cost_per_token_batches":1e-06,"max_input_tokens":400000}}',
    'dearer-prices.json':
      '{"listed-model":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":2e-05,"output_cost_per_token":9e-05}}',
    'openai-usage.json':
      '{"object":"page","data":[{"object":"bucket","start_time":1767225600,"end_time":1767312000,"results":[{"object":"organization.usage.completions.result","model":"gpt-4o-mini","num_model_requests":3,"input_tokens":120,"input_cached_tokens":20,"output_tokens":45}]}],"has_more":false}',
    'bad.json': '{\n  "name": "x",\n  "enabled": yes\n}\n',
    'bad.yaml': 'name: x\n\tbase_url: y\n',
    'twice.yaml': 'name: x\nname: y\n',
    'list.json': '[1, 2]\n',
    'unknown-field.json': '{"name":"x","base_url":"http://x.example","colour":"red"}\n',
    'bad-config.yaml': 'version: 1\nlanes:\n  - name: [unclosed\n',
    'wrong-config.yaml': 'version: 1\nlanes:\n  - nam: typo\n',
    'refused-config.yaml':
      'version: 1\nendpoints:\n  - name: Refused\n    provider: nothing\n    upstream_model: m1\n    route_kind: chat\n',
  };
}

/** A guardrail that allows every text. */
async function startGuard(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"verdict":"allow"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
