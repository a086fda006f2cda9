import { type Answer, ask, dispatched } from '../harness/ask-company.ts';
import type { Company, Member } from '../harness/company.ts';
import { type Budget, COVERED, FREE, targetIdOf } from './budget.ts';

/** How many requests a budget pays for unless told otherwise, and how many more are sent. */
export const WORTH_REQUESTS = 5;
const TOO_MANY = 4;
/** None is settled before all are decided, so that nothing given back lets in one more. */
const DELAY_MS = 700;

/** Sends more than is left of the budget, concurrently and to both processes. Returns what was wrong. */
export async function exhaust(
  company: Company,
  budget: Budget,
  leftRequests: number = WORTH_REQUESTS,
): Promise<string[]> {
  const tag = `budget-${budget.id}-${budget.limit}`;
  const covered = COVERED[budget.target];
  // The budget of a member is one for all their keys; that of a key is of that key alone.
  const keys = budget.subject === 'user' ? budget.member.keys : [budget.member.keys[0]];
  const answers = await Promise.all(
    Array.from({ length: leftRequests + TOO_MANY }, (_, index) =>
      ask(company, {
        key: keys[index % keys.length]?.key ?? '',
        model: covered[index % covered.length] ?? '',
        process: (index >> 1) % 2,
        tag,
        delayMs: DELAY_MS,
      }),
    ),
  );
  const served = answers.filter(({ status }) => status === 200).length;
  const reached = dispatched(company, tag);
  const wrong: string[] = [];
  if (served !== leftRequests) wrong.push(`${served} were served instead of ${leftRequests}`);
  if (reached !== leftRequests) wrong.push(`${reached} reached the provider instead of ${leftRequests}`);
  for (const answer of answers) {
    if (answer.status !== 200) wrong.push(...wrongRefusal(company, budget, answer));
  }
  return wrong.map((each) => `${nameOf(budget)}: ${each}`);
}

/** With the budget used up: which requests are rejected, and which must not be affected. */
export async function checkReach(company: Company, budget: Budget, stranger: Member): Promise<string[]> {
  const [first, second] = budget.member.keys;
  const covered = COVERED[budget.target];
  const wrong: string[] = [];
  const send = (key: string, model: string, process: number) =>
    ask(company, { key, model, process, tag: `reach-${budget.id}` });
  for (const process of [0, 1]) {
    for (const model of covered) {
      wrong.push(...wrongRefusal(company, budget, await send(first.key, model, process)));
      const sibling = await send(second.key, model, process);
      if (budget.subject === 'user') wrong.push(...wrongRefusal(company, budget, sibling));
      else if (sibling.status !== 200) wrong.push(`another key of the owner got ${sibling.status}`);
    }
    for (const model of FREE[budget.target]) {
      const { status } = await send(first.key, model, process);
      if (status !== 200) wrong.push(`${model}, which it does not cover, got ${status}`);
    }
    const { status } = await send(stranger.keys[0].key, covered[0] ?? '', process);
    if (status !== 200) wrong.push(`another member got ${status}`);
  }
  return wrong.map((each) => `${nameOf(budget)}: ${each}`);
}

/** Returns what is wrong with a rejection by this budget. */
export function wrongRefusal(company: Company, budget: Budget, answer: Answer): string[] {
  const { status, error, headers } = answer;
  const by = `${answer.ask.model} at process ${answer.ask.process}`;
  if (status !== 429) return [`${by} got ${status} ${error?.message ?? ''}`];
  const expected = {
    id: budget.id,
    policy_kind: budget.subject,
    scope_type: budget.target,
    scope_id: targetIdOf(company, budget.target),
    metric: budget.metric,
    limit_value: budget.limit,
  };
  const wrong: string[] = [];
  if (error?.code !== 'budget_exhausted') wrong.push(`${by} got code ${error?.code}`);
  if (headers.get('x-should-retry') !== 'false') wrong.push(`${by} is told to try again`);
  for (const [field, value] of Object.entries(expected)) {
    const named = error?.policy?.[field];
    if (named !== value) wrong.push(`${by} names ${field} ${String(named)} instead of ${String(value)}`);
  }
  return wrong;
}

function nameOf({ subject, target, metric }: Budget): string {
  return `${subject} budget of ${metric} on ${target}`;
}
