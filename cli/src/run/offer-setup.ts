import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi, dataOf } from '../api/client.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import { readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { findSources, type Source } from './find-sources.ts';
import { DEFAULT_LANE, type SetUpSource, setUpSources } from './set-up-sources.ts';

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
  const { url, adminToken, directory, isWanted, signal, find = () => findSources(surroundings) } = offer;
  if (!isWanted && (await readIfPresent(answerPath(directory))) !== null) return;
  const tokens = { management: adminToken, inference: null };
  const { management } = createApi(surroundings, { server: url, contextName: null, tokens });
  if (!isWanted && (await dataOf(management.GET('/api/relay/providers'))).length > 0) return;
  const sources = await find();
  if (sources.length === 0) {
    if (isWanted) stdout.write(NOTHING_FOUND);
    return;
  }
  if (!isWanted) {
    const seen = sources.map((source) => source.seen).join(', ');
    if (!canAsk(surroundings)) {
      stdout.write(`  Found ${seen}. \`relay start --detect\` sets up Relay with it.\n\n`);
      return;
    }
    const question = `  Found ${seen}. Set up Relay with it, as the lane ${DEFAULT_LANE}?`;
    const isAccepted = await confirm(surroundings, question, signal);
    await writeFile(answerPath(directory), `${JSON.stringify({ accepted: isAccepted })}\n`, { mode: 0o600 });
    if (!isAccepted) {
      stdout.write('  Not set up. `relay start --detect` does it later.\n\n');
      return;
    }
  }
  stdout.write(resultText(await setUpSources(management, sources), offer.tryLane));
}

const NOTHING_FOUND =
  '  Nothing to set up was found: OPENAI_API_KEY and ANTHROPIC_API_KEY are not set, and no Ollama answers at 127.0.0.1:11434 or OLLAMA_HOST.\n\n';

function resultText(done: readonly SetUpSource[], tryLane: Offer['tryLane']): string {
  const lines = done.map(({ name, models, problem }) =>
    problem === null ? `  ${name}: ${models.join(', ')}` : `  ${name} is left out. ${problem}`,
  );
  const isAny = done.some(({ problem }) => problem === null);
  const next = [
    `  The lane ${DEFAULT_LANE} calls them. \`relay setup\` shows how to point a client at it.`,
    '',
    tryLane(DEFAULT_LANE),
  ];
  return `${[...lines, ...(isAny ? next : ['']), ''].join('\n')}`;
}

function answerPath(directory: string): string {
  return join(directory, 'detect.json');
}
