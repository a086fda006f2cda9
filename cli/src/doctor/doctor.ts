import { styleText } from 'node:util';
import { Command, Option, type OptionValues } from 'commander';
import { connect } from '../api/client.ts';
import { exitCodes, Outcome, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { plain } from '../output/cells.ts';
import { formatOf, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { checkEndpoints, checkGuardrails, checkLanes, checkLimits } from './check-configuration.ts';
import { checkMetering } from './check-metering.ts';
import { checkProviders } from './check-providers.ts';
import { checkHealth, checkMigrations, checkReachable, checkTokens, checkVersion } from './check-server.ts';
import { failedNeed, findingOf } from './check-stores.ts';
import { checkStreaming } from './check-streaming.ts';
import {
  type Check,
  type Examination,
  type Finding,
  fail,
  type Need,
  type Status,
  skipped,
  warn,
} from './finding.ts';
import { type Health, readHealth, serves } from './read-health.ts';

type NamedCheck = readonly [name: string, check: Check, need?: Need];

/** Checks without a token, and checks that need management access. */
const openChecks: readonly NamedCheck[] = [
  ['stores', checkHealth],
  ['metering', checkMetering, 'every store'],
  ['tokens', checkTokens],
  ['migrations', checkMigrations, 'postgresql'],
];
const managementChecks: readonly NamedCheck[] = [
  ['version', checkVersion],
  ['providers', checkProviders],
  ['endpoints', checkEndpoints],
  ['lanes', checkLanes],
  ['limits', checkLimits],
  ['guardrails', checkGuardrails],
];

export function doctorCommand(surroundings: Surroundings): Command {
  const command = new Command('doctor')
    .description(
      'Diagnose problems: check the server, contact each provider, and print a fix for each problem',
    )
    .option(
      '--stream <model>',
      'send a small streamed request to this model or lane, and check that no proxy in front of Relay buffers it',
    )
    .addOption(new Option('--json', 'same as --output json').implies({ output: 'json' }));
  return withOutput(withConnection(command)).action((options: OptionValues) => doctor(surroundings, options));
}

async function doctor(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const examination = { surroundings, api: await connect(surroundings, options) };
  const { stream }: { stream?: string } = options;
  const findings = await examine(
    examination,
    stream === undefined ? [] : [['streaming', checkStreaming(stream)]],
  );
  const worst: Status = worstOf(findings);
  if (formatOf(surroundings, options) === 'table') printFindings(surroundings, findings);
  else await printObject(surroundings, options, { status: worst, findings });
  if (worst === 'fail') throw new Outcome(exitCodes.error);
}

async function examine(examination: Examination, asked: readonly NamedCheck[]): Promise<readonly Finding[]> {
  const reachable = await attempt('server', checkReachable, examination);
  if (reachable.some(({ check, status }) => check === 'server' && status === 'fail')) return reachable;
  const health = await readHealth(examination).catch((error: unknown) => {
    if (error instanceof ProgramError) return null;
    throw error;
  });
  if (health === null) return [...reachable, ...(await attempt('stores', checkHealth, examination))];
  const findings = [...reachable];
  for (const [name, check, need] of [...openChecks, ...asked]) {
    const missing = need === undefined ? null : failedNeed(health, need);
    findings.push(
      ...(missing === null ? await attempt(name, check, examination, health) : [skipped(name, missing)]),
    );
  }
  const obstacle = await obstacleOf(examination, health);
  if (obstacle !== null) return [...findings, ...obstacle];
  for (const [name, check] of managementChecks)
    findings.push(...(await attempt(name, check, examination, health)));
  return findings;
}

/** Why the configuration cannot be checked here; null when it can. A problem that has a finding gets no second one. */
async function obstacleOf(examination: Examination, health: Health): Promise<readonly Finding[] | null> {
  const { api } = examination;
  const { server, tokens } = api.connection;
  if (!(await serves(examination, health, 'management'))) {
    const where = 'Run it at the platform, or at a proxy that leads to it.';
    const because = `a process with the role ${health.role} serves no management.`;
    return [{ ...skipped('configuration', because), fix: where }];
  }
  const missing = failedNeed(health, 'postgresql');
  if (missing !== null) return [skipped('configuration', missing)];
  const fix = `Log in with the admin token or an API key. Run: \`relay login ${server}\``;
  const refused = [warn('configuration', 'The configuration was not checked.', fix)];
  if (tokens.management === null) return refused;
  try {
    await api.management.GET('/api/relay/capabilities');
    return null;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (error.exitCode === exitCodes.auth) return refused;
    return [fail('configuration', error.message, error.detail.fix ?? 'Try again.')];
  }
}

/** A failed check is a finding; the other checks continue. */
async function attempt(
  name: string,
  check: Check,
  examination: Examination,
  health: Health | null = null,
): Promise<readonly Finding[]> {
  try {
    return await check(examination);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return [findingOf(name, error, health)];
  }
}

function worstOf(findings: readonly Finding[]): Status {
  const worstFirst: readonly Status[] = ['fail', 'warn', 'note'];
  return worstFirst.find((worst) => findings.some(({ status }) => status === worst)) ?? 'ok';
}

const marks = { ok: ['green', '✓'], note: ['dim', '?'], warn: ['yellow', '!'], fail: ['red', '✗'] } as const;

function printFindings({ stdout }: Surroundings, findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, message, fix } of findings) {
    const [color, sign] = marks[status];
    const mark = styleText(color, sign, { stream: stdout });
    stdout.write(`${mark} ${styleText('dim', check.padEnd(width), { stream: stdout })}  ${plain(message)}\n`);
    if (fix !== undefined) stdout.write(`  ${' '.repeat(width)}  → ${plain(fix)}\n`);
  }
}
