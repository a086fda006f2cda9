import { type Api, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { ask, canAsk } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';

const SHOWN_MAX = 20;

/** The only lane; a choice where there are several and a terminal. Without a lane, models count as such. */
export async function chooseModel(surroundings: Surroundings, api: Api): Promise<string> {
  const names = await callableNames(api);
  if (names.length === 1 && names[0] !== undefined) return names[0];
  if (names.length === 0) {
    throw new ProgramError('There is no lane to use.', exitCodes.usage, {
      fix: 'run `relay lanes create --name NAME`',
    });
  }
  const some = names.slice(0, SHOWN_MAX);
  if (canAsk(surroundings)) {
    surroundings.stderr.write(some.map((name, at) => `${String(at + 1).padStart(3)}  ${name}\n`).join(''));
    const answer = await ask(surroundings, 'Which model? ');
    const chosen = some[Number(answer) - 1] ?? names.find((name) => name === answer);
    if (chosen !== undefined) return chosen;
  }
  throw new ProgramError('There is more than one lane.', exitCodes.usage, {
    fix: `add --model with one of ${some.join(', ')}`,
  });
}

/** The admin token lists lanes too. */
async function callableNames(api: Api): Promise<string[]> {
  const { inference, management } = api.connection.tokens;
  if (inference === null && management !== null)
    return (await dataOf(api.management.GET('/api/relay/routing-lanes'))).map(({ slug }) => slug);
  const { data } = await dataOf(api.inference.GET('/models'));
  const lanes = data.filter(({ owned_by }) => owned_by === 'relay').map(({ id }) => id);
  return lanes.length > 0 ? lanes : data.map(({ id }) => id);
}
