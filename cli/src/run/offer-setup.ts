import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi, dataOf } from '../api/client.ts';
import { canAsk, confirmByDefault } from '../kit/prompt.ts';
import { readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { findSources, type Source } from '../sources/find-sources.ts';
import { DEFAULT_LANE, modelWords, type SetUpSource, setUpSources } from '../sources/set-up-sources.ts';

export interface Offer {
  readonly url: string;
  readonly adminToken: string;
  /** How to call a lane, for a person to paste. */
  readonly tryLane: (lane: string) => string;
  readonly directory: string;
  /** With `--detect`: without a question. */
  readonly isWanted: boolean;
  /** Aborted when the server stops; ends the question. */
  readonly signal: AbortSignal;
  readonly find?: () => Promise<Source[]>;
}

/** Sets the gateway up with the providers in sight: by option, or after a question that is asked once. */
export async function offerSetup(surroundings: Surroundings, offer: Offer): Promise<void> {
  const { stdout } = surroundings;
  const { url, adminToken, directory, isWanted, signal } = offer;
  if (!isWanted && (await readIfPresent(answerPath(directory))) !== null) return;
  const tokens = { management: adminToken, inference: null };
  const { management } = createApi(surroundings, { server: url, contextName: null, tokens });
  if (!isWanted && (await dataOf(management.GET('/api/relay/providers'))).length > 0) return;
  const sources = await (offer.find?.() ?? findAll(surroundings, management));
  if (sources.length === 0) {
    if (isWanted) stdout.write(NOTHING_FOUND);
    return;
  }
  if (!isWanted) {
    const [seen, names] = [joined(sources.map((each) => each.seen)), joined(sources.map(({ name }) => name))];
    const models = sources.length === 1 ? 'its models' : 'their models';
    if (!canAsk(surroundings)) {
      stdout.write(
        `  Found ${seen}. To set up ${names} with ${models} and a lane, run: relay start --detect\n\n`,
      );
      return;
    }
    const question = `  Found ${seen}. Set up ${names} with ${models} and a lane?`;
    const isAccepted = await confirmByDefault(surroundings, question, signal);
    await writeFile(answerPath(directory), `${JSON.stringify({ accepted: isAccepted })}\n`, { mode: 0o600 });
    if (!isAccepted) {
      stdout.write('  Not set up. To do it later, run: relay start --detect\n\n');
      return;
    }
  }
  stdout.write(resultText(await setUpSources(management, sources), offer.tryLane));
}

const NOTHING_FOUND =
  '  No provider found: no provider key such as OPENAI_API_KEY is set, and Ollama, vLLM and LM Studio do not respond on this machine.\n' +
  '  To add one, run: relay providers add PRESET\n\n';

async function findAll(
  surroundings: Surroundings,
  management: ReturnType<typeof createApi>['management'],
): Promise<Source[]> {
  return findSources(surroundings, await dataOf(management.GET('/api/relay/provider-presets')));
}

/** `a`, `a and b`, `a, b and c`. */
function joined(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words);
}

function resultText(done: readonly SetUpSource[], tryLane: Offer['tryLane']): string {
  const lines = done.map(({ name, models, problem }) =>
    problem === null
      ? [`  Added ${name}:`, ...models.map((model) => `    ${modelWords(model)}`)].join('\n')
      : `  ${name} was not added. ${problem}`,
  );
  const isAny = done.some(({ problem }) => problem === null);
  const next = [
    `  Lane ${DEFAULT_LANE} routes to them. To point a client at it, run: relay setup`,
    '',
    tryLane(DEFAULT_LANE),
  ];
  return `${[...lines, ...(isAny ? next : ['']), ''].join('\n')}`;
}

function answerPath(directory: string): string {
  return join(directory, 'detect.json');
}
