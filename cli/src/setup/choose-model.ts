import { callableNames } from '../api/callable-names.ts';
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

/** Refuses a model that nothing has. Where this connection can't tell, it only warns: the name may be a hidden lane, or the server off. */
export async function demandCallable({ stderr }: Surroundings, api: Api, model: string): Promise<string> {
  try {
    const names = await callableNames(api);
    if (names.includes(model)) return model;
    const { error_code } = await dataOf(
      api.management.POST('/api/relay/routing/explain', {
        body: { operation: 'chat', body: { model, messages: [{ role: 'user', content: 'Hello' }] } },
      }),
    );
    if (error_code !== 'model_not_found') return model;
    throw new ProgramError(`No lane or model is named "${model}".`, exitCodes.notFound, {
      fix: `Add --model with one of: ${names.slice(0, SHOWN_MAX).join(', ')}.`,
    });
  } catch (error) {
    if (!(error instanceof ProgramError) || error.exitCode === exitCodes.notFound) throw error;
    stderr.write(`Can't check that "${model}" can be called: ${error.message}\n`);
    return model;
  }
}
