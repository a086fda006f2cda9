import { callableNames } from '../api/callable-names.ts';
import type { Api } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { ask, canAsk } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';

const SHOWN_MAX = 20;

/** The only lane; a choice where there are several and a terminal. Without a lane, models count as such. */
export async function chooseModel(surroundings: Surroundings, api: Api): Promise<string> {
  const names = await callableNames(api);
  if (names.length === 1 && names[0] !== undefined) return names[0];
  if (names.length === 0) {
    throw new ProgramError('No lanes yet.', exitCodes.usage, {
      fix: 'Run: `relay lanes create --name NAME`',
    });
  }
  const some = names.slice(0, SHOWN_MAX);
  if (canAsk(surroundings)) {
    surroundings.stderr.write(some.map((name, at) => `${String(at + 1).padStart(3)}  ${name}\n`).join(''));
    const answer = await ask(surroundings, 'Model: ');
    const chosen = some[Number(answer) - 1] ?? names.find((name) => name === answer);
    if (chosen !== undefined) return chosen;
  }
  throw new ProgramError('There are several lanes.', exitCodes.usage, {
    fix: `Add --model with one of: ${some.join(', ')}.`,
  });
}
