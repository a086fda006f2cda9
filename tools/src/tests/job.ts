import type { FailedTest, TestResult } from './test-result.ts';

/** One process that tests something: test files that share it, or a command. */
export interface Job {
  /** Unique, such as `unit server/src/kit` or `system line`. */
  readonly name: string;
  /** `run`: every change must pass it. `since`: a change that can break it, by `--since`. `all`: `.ci/run --all` runs it too. */
  readonly tier: 'run' | 'since' | 'all';
  /** Test files, relative to the root. Empty: `command` is run instead. */
  readonly files: readonly string[];
  /** Node's arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of the jobs that must have passed before this one starts. */
  readonly needs: readonly string[];
  /** A job that measures: no other job runs beside it. */
  readonly isAlone: boolean;
  /** Mounts file systems: runs as root, by `sudo` if need be. */
  readonly isRoot: boolean;
  /** What the names of its tests must contain, if only some were asked for. A job without such a test passes. */
  readonly testName: string | null;
  readonly testMsMax: number;
  /** A job that takes longer has hung. */
  readonly msMax: number;
}

export interface JobResult {
  readonly job: Job;
  readonly tests: readonly TestResult[];
  readonly wallS: number;
  /** User and system time of the job's processes: of those that ended, or sampled, whichever is more. */
  readonly cpuS: number;
  /** The longest time that a process of the job was ready to run while another process had its core. */
  readonly runDelayS: number;
  /** What the job reported; see `system-tests/src/harness/figures.ts`. */
  readonly figures: Readonly<Record<string, unknown>> | null;
  readonly logFile: string;
}

export function failuresOf({ tests }: Pick<JobResult, 'tests'>): readonly FailedTest[] {
  return tests.filter((test) => test.outcome === 'failed');
}
