import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@relay/testbed';
import { type Message, readMessage } from './read-message.ts';
import type { SmtpSettings } from './smtp-main.ts';
import { until } from './until.ts';

const ENTRY = join(import.meta.dirname, 'smtp-main.ts');
const ARRIVES_MS_MAX = 20_000;

export interface SmtpProcess {
  readonly port: number;
  readonly messages: readonly Message[];
  /** Attempts to sign in, and whether the connection was encrypted. */
  readonly attempts: readonly { readonly auth: boolean; readonly secure: boolean }[];
  readonly refused: readonly string[];
  /** The next message to this address with this subject that no earlier call has returned. */
  next(to: string, subject: RegExp): Promise<Message>;
  countTo(to: string, subject: RegExp): number;
  start(settings?: Partial<SmtpSettings>): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export async function startSmtp(
  settings: Omit<SmtpSettings, 'port'> = { tls: 'none' },
  isStarted = true,
): Promise<SmtpProcess> {
  const port = await freePort();
  const messages: Message[] = [];
  const attempts: { auth: boolean; secure: boolean }[] = [];
  const refused: string[] = [];
  const taken = new Set<Message>();
  let child: ChildProcess | null = null;
  const killOnExit = () => child?.kill('SIGKILL');
  process.once('exit', killOnExit);

  function note(line: string, onListening: () => void): void {
    const entry = JSON.parse(line) as Record<string, unknown>;
    if ('listening' in entry) onListening();
    else if ('auth' in entry) attempts.push(entry as (typeof attempts)[number]);
    else if ('refused' in entry) refused.push(String(entry['refused']));
    else messages.push(readMessage(entry as unknown as Parameters<typeof readMessage>[0]));
  }
  const matching = (to: string, subject: RegExp) =>
    messages.filter((each) => each.to.includes(to) && subject.test(each.subject));

  const smtp: SmtpProcess = {
    port,
    messages,
    attempts,
    refused,
    async next(to, subject) {
      let found: Message | undefined;
      await until(() => {
        found = matching(to, subject).find((each) => !taken.has(each));
        return found !== undefined;
      }, ARRIVES_MS_MAX);
      if (found === undefined)
        throw new Error(
          `no message ${subject} to ${to}; there are: ${messages.map((each) => `${each.subject} to ${each.to}`).join('; ')}`,
        );
      taken.add(found);
      return found;
    },
    countTo: (to, subject) => matching(to, subject).length,
    async start(more = {}) {
      const started = spawn(process.execPath, [ENTRY, JSON.stringify({ ...settings, ...more, port })], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child = started;
      await new Promise<void>((resolve, reject) => {
        started.once('exit', (code) => reject(new Error(`the mail server exited with ${code}`)));
        createInterface({ input: started.stdout }).on('line', (line) => note(line, resolve));
      });
      started.removeAllListeners('exit');
    },
    async kill() {
      if (child === null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      child = null;
    },
  };
  if (isStarted) await smtp.start();
  return smtp;
}
