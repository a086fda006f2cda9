import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareEnvironment } from '../harness/bare-environment.ts';

const CLIENT_MS_MAX = 2 * 60_000;

export interface ClientRun {
  readonly file: string;
  /** The gateway's origin. */
  readonly url: string;
  readonly token: string;
  readonly model: string;
  /** Empty; becomes the client's home. */
  readonly home: string;
  readonly workDirectory: string;
}

export interface ClientEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PROMPT = 'Do the task, step by step, with your tools.';

/** Claude Code, without a terminal, as a script would start it. */
export function runClaudeCode(run: ClientRun): Promise<ClientEnd> {
  const args = ['-p', PROMPT, '--model', run.model, '--allowedTools', 'Read,Bash'];
  return runCommand(run, [process.execPath, run.file, ...args], {
    ANTHROPIC_BASE_URL: run.url,
    ANTHROPIC_AUTH_TOKEN: run.token,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: run.model,
    // No traffic besides the gateway.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    MAX_THINKING_TOKENS: '4096',
  });
}

/** Codex, likewise. */
export function runCodex(run: ClientRun): Promise<ClientEnd> {
  const codexHome = join(run.home, '.codex');
  mkdirSync(codexHome, { recursive: true });
  const settings = [
    `model = "${run.model}"`,
    'model_provider = "relay"',
    'web_search = "disabled"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[model_providers.relay]',
    'name = "relay"',
    `base_url = "${run.url}/v1"`,
    'wire_api = "responses"',
    'env_key = "RELAY_API_KEY"',
  ];
  writeFileSync(join(codexHome, 'config.toml'), `${settings.join('\n')}\n`);
  const env = { CODEX_HOME: codexHome, RELAY_API_KEY: run.token };
  return runCommand(run, [process.execPath, run.file, 'exec', '--skip-git-repo-check', PROMPT], env);
}

/** opencode, likewise, as `relay setup` configures it. */
export function runOpencode(run: ClientRun): Promise<ClientEnd> {
  const directory = join(run.home, '.config', 'opencode');
  mkdirSync(directory, { recursive: true });
  const settings = {
    model: `relay/${run.model}`,
    provider: {
      relay: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Relay',
        options: { baseURL: `${run.url}/v1`, apiKey: '{env:RELAY_API_KEY}' },
        models: { [run.model]: { name: run.model } },
      },
    },
    permission: 'allow',
    autoupdate: false,
    share: 'disabled',
    // It would ask for a title of the session beside the task.
    agent: { title: { disable: true } },
  };
  writeFileSync(join(directory, 'opencode.json'), JSON.stringify(settings));
  const env = {
    RELAY_API_KEY: run.token,
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  };
  return runCommand(run, [run.file, 'run', PROMPT], env);
}

/** Runs until it ends; ends it, with what it has started, when it takes too long. */
function runCommand(
  run: ClientRun,
  [command = '', ...args]: readonly string[],
  env: Record<string, string>,
): Promise<ClientEnd> {
  const child = spawn(command, args, {
    cwd: run.workDirectory,
    env: { PATH: bareEnvironment().PATH, HOME: run.home, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => {
      stderr += `\nIt did not end within ${CLIENT_MS_MAX} ms.`;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, CLIENT_MS_MAX);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(deadline);
      resolve({ code, stdout, stderr });
    });
  });
}
