import { differenceFromGolden } from './golden.ts';
import { mask } from './mask.ts';
import { type Ran, runOnTerminal, runPiped } from './run-cli.ts';
import { needsProcess, runHereOnTerminal, runHerePiped } from './run-here.ts';
import type { Site } from './site.ts';
import type { Chapter, Mode, Step } from './step.ts';

export interface ChapterResult {
  readonly commands: readonly (readonly string[])[];
  readonly complaints: readonly string[];
}

/** Runs the chapters in order and compares their output with the golden files. */
export async function runChapters(
  chapters: readonly Chapter[],
  site: Site,
  mode: Mode,
): Promise<ChapterResult> {
  const commands: (readonly string[])[] = [];
  const complaints: string[] = [];
  for (const chapter of chapters) {
    let text = '';
    for (const step of await chapter.steps(site)) {
      const args = (mode === 'terminal' ? step.terminalArgs : undefined) ?? step.args;
      commands.push(args);
      const ran = await runStep(step, args, site, mode);
      const shown = mask(blockOf(args, ran, mode), { home: site.home, isTerminal: mode === 'terminal' });
      text += shown;
      if (secretsOf(site).some((secret) => ran.raw.includes(secret)))
        complaints.push(`${mode}: shows a secret:\n${shown}`);
      if (ran.code !== (step.code ?? 0))
        complaints.push(`${mode} exit ${ran.code}, not ${step.code ?? 0}:\n${shown}`);
    }
    const difference = differenceFromGolden(`${chapter.name}.${mode}`, text);
    if (difference !== null) complaints.push(difference);
  }
  return { commands, complaints };
}

/** Secrets that no command may print. */
function secretsOf({ deployment: { adminToken, apiToken } }: Site): string[] {
  return [adminToken, apiToken, 'sk-upstream'];
}

async function runStep(step: Step, args: readonly string[], site: Site, mode: Mode): Promise<Ran> {
  const env = { ...(step.isBare === true ? site.bareEnv : site.env), ...step.env };
  const options = { env, cwd: site.home };
  let isOver = false;
  const beside = step.beside?.(() => isOver);
  const [piped, onTerminal] = needsProcess(args)
    ? [runPiped, runOnTerminal]
    : [runHerePiped, runHereOnTerminal];
  const ran = await (mode === 'piped'
    ? piped(args, { ...options, stdin: step.stdin ?? '' })
    : onTerminal(args, { ...options, typing: step.typing ?? [] }));
  isOver = true;
  await beside;
  return ran;
}

function blockOf(args: readonly string[], { code, stdout, stderr }: Ran, mode: Mode): string {
  const line = args.map((word) => (/[\s'"]/.test(word) ? JSON.stringify(word) : word)).join(' ');
  const parts = [`$ relay ${line}`, stdout.trimEnd()];
  if (mode === 'piped' && stderr !== '') parts.push('--- standard error', stderr.trimEnd());
  if (code !== 0) parts.push(`--- exit ${code}`);
  return `${parts.filter((part) => part !== '').join('\n')}\n\n`;
}
