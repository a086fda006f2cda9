import { styleText } from 'node:util';
import { ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';

/** Prints message, cause, fix and links; never a stack trace. */
export function writeError({ stderr }: Pick<Surroundings, 'stderr'>, error: unknown): void {
  const detail = error instanceof ProgramError ? error.detail : {};
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`${styleText(['red', 'bold'], 'error:', { stream: stderr })} ${message}`];
  const add = (label: string, text: string | undefined) => {
    if (text !== undefined && text !== '') {
      lines.push(`  ${styleText('dim', `${label}:`.padEnd(9), { stream: stderr })} ${text}`);
    }
  };
  add('why', detail.why);
  add('fix', detail.fix === undefined ? undefined : shownFix(detail.fix));
  add('request', detail.requestId);
  add('more', detail.docUrl);
  stderr.write(`${lines.join('\n')}\n`);
}

/** A command at the end has no quotes around it, so that it can be copied with the rest of the line. */
export function shownFix(fix: string): string {
  return fix.replace(/([Rr]un:) `([^`]+)`\.?$/, '$1 $2');
}
