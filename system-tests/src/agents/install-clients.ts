import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CLAUDE_CODE = '2.1.325';
const CODEX = '0.166.0';
const OPENCODE = '1.18.33';
const INSTALL_MS_MAX = 8 * 60_000;

/** The files that start the clients: two for Node, and a program. */
export interface InstalledClients {
  readonly claudeCode: string;
  readonly codex: string;
  readonly opencode: string;
}

/**
 * The published clients, in exactly these versions. Together they are 1.1 GB, so they are no dependency of the repository: the
 * first run installs them from npm into a folder of the user's cache.
 */
export async function installClients(): Promise<InstalledClients> {
  const directory = join(homedir(), '.cache', `relay-agents-${CLAUDE_CODE}-${CODEX}-${OPENCODE}`);
  const modules = join(directory, 'node_modules');
  const clients = {
    claudeCode: join(modules, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs'),
    codex: join(modules, '@openai', 'codex', 'bin', 'codex.js'),
    opencode: join(modules, `opencode-linux-${process.arch}`, 'bin', 'opencode'),
  };
  // npm writes this file when everything else is in place.
  if (existsSync(join(modules, '.package-lock.json'))) return clients;
  mkdirSync(directory, { recursive: true });
  const packages = [
    `@anthropic-ai/claude-code@${CLAUDE_CODE}`,
    `@openai/codex@${CODEX}`,
    `opencode-linux-${process.arch}@${OPENCODE}`,
  ];
  const flags = ['--ignore-scripts', '--no-fund', '--no-audit', '--no-save', '--prefix', directory];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { timeout: INSTALL_MS_MAX });
  return clients;
}
