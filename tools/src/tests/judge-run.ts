import { failuresOf, type Job, type JobResult } from './job.ts';
import type { FailedTest } from './test-result.ts';

/** With more failed jobs than these the product is broken, and repeating them only takes time. */
const REPEATED_MAX = 8;

export interface NamedTest {
  readonly job: string;
  readonly file: string;
  readonly name: string;
}

export interface Verdict {
  /** The last result of each job. */
  readonly results: readonly JobResult[];
  /** Tests that failed, and passed when their job ran again by itself. */
  readonly unsteady: readonly NamedTest[];
  /** Tests that exceeded a bound on time twice while their processes waited for a core. */
  readonly notJudged: readonly NamedTest[];
  readonly failed: readonly (NamedTest & Pick<FailedTest, 'reason'>)[];
}

/**
 * Runs failed jobs once more, each by itself. A test that fails twice has failed. One that passes then is unsteady: it may be
 * a race in the product that shows rarely. Nothing is forgiven but a declared bound on time whose processes waited for a core.
 */
export async function judgeRun(
  first: readonly JobResult[],
  runAgain: (job: Job) => Promise<JobResult>,
): Promise<Verdict> {
  const broken = first.filter((result) => failuresOf(result).length > 0);
  const repeated = broken.length <= REPEATED_MAX ? broken : [];
  const results = first.filter((result) => !repeated.includes(result));
  const unsteady: NamedTest[] = [];
  for (const before of repeated) {
    const after = await runAgain(before.job);
    const stillFailing = new Set(failuresOf(after).map(keyOf));
    unsteady.push(
      ...failuresOf(before)
        .filter((test) => !stillFailing.has(keyOf(test)))
        .map((test) => named(before.job, test)),
    );
    results.push(after);
  }
  return { ...verdictOf(results), unsteady };
}

/** Without a second run. */
export function verdictOf(results: readonly JobResult[]): Verdict {
  const failures = results.flatMap((result) =>
    failuresOf(result).map((test) => ({ ...named(result.job, test), ...test })),
  );
  return {
    results,
    unsteady: [],
    notJudged: failures
      .filter(({ isJudged }) => !isJudged)
      .map(({ job, file, name }) => ({ job, file, name })),
    failed: failures.filter(({ isJudged }) => isJudged),
  };
}

function named(job: Job, { file, name }: FailedTest): NamedTest {
  return { job: job.name, file, name };
}

export function keyOf({ file, name }: Pick<NamedTest, 'file' | 'name'>): string {
  return `${file}\n${name}`;
}
