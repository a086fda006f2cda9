import { advices, sentencesOf } from './advice.ts';
import { type Person, prepare } from './prepare.ts';
import { type Outcome, type Requests, requestsBy, requestsIn, type Send } from './requests.ts';
import type { Proofs, Site } from './site.ts';
import { nameOf, type State } from './states.ts';

export interface Found {
  states: number;
  advice: number;
  /** States from which no request leads to an active membership. */
  readonly stuck: string[];
  /** Advice that the machine followed in vain, or does not know. */
  readonly falseAdvice: string[];
}

/** The advice of an answer leads to other advice only so often. */
const STEPS_MAX = 6;

type Step = (person: Person, before: Outcome) => Promise<Outcome>;

interface Walking {
  readonly site: Site;
  readonly proofs: Proofs;
  readonly state: State;
  readonly requests: Requests;
  readonly found: Found;
  /** Where the requests of this state led. */
  readonly known: Map<keyof Requests, boolean>;
}

/** Walks from each state along every request and all advice of every answer. */
export async function walk(
  site: Site,
  proofs: Proofs,
  states: readonly State[],
  send: Send,
  found: Found,
): Promise<void> {
  const requests = requestsBy(send);
  for (const state of states) {
    found.states += 1;
    const known: Walking['known'] = new Map();
    const walking = { site, proofs, state, requests, found, known };
    for (const name of requestsIn(state)) {
      const person = await prepare(site, proofs, state);
      const outcome = await requests[name](person);
      const path = `${nameOf(state)}: ${name}`;
      known.set(name, await follow(walking, { person, outcome, steps: [], path }));
    }
    if (![...known.values()].includes(true)) found.stuck.push(nameOf(state));
  }
}

interface Place {
  readonly person: Person;
  readonly outcome: Outcome;
  /** What has been done since the request. */
  readonly steps: readonly Step[];
  readonly path: string;
}

/** Follows all advice of an answer. True: some way leads to an active membership. */
async function follow(walking: Walking, { person, outcome, steps, path }: Place): Promise<boolean> {
  if (outcome.isIn) return true;
  const { found, requests, known } = walking;
  let leadsOut = false;
  for (const [index, sentence] of sentencesOf(outcome.says).entries()) {
    found.advice += 1;
    const next = `${path} → “${sentence}”`;
    const advice = advices.find(({ says }) => says.test(sentence));
    const reached = steps.length === 0 && advice?.is !== undefined ? known.get(advice.is) : undefined;
    const isTrue = reached ?? (await isFollowed());
    if (!isTrue) found.falseAdvice.push(next);
    leadsOut ||= isTrue;

    async function isFollowed(): Promise<boolean> {
      if (advice === undefined || steps.length >= STEPS_MAX) return false;
      // A request that was refused changed nothing, so the first advice is for the same person, and another one repeats the steps.
      const someone = index === 0 ? person : await prepare(walking.site, walking.proofs, walking.state);
      let before = outcome;
      if (index > 0) for (const step of steps) before = await step(someone, before);
      const does: Step = (of, then) => advice.does(of, then, requests);
      const after = await does(someone, before);
      return follow(walking, { person: someone, outcome: after, steps: [...steps, does], path: next });
    }
  }
  return leadsOut;
}
