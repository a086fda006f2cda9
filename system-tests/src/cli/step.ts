import type { Typing } from './run-cli.ts';
import type { Site } from './site.ts';

export type Mode = 'piped' | 'terminal';

/** One command line, run once with pipes and once on a terminal. */
export interface Step {
  readonly args: readonly string[];
  /** The exit status; 0 without it. */
  readonly code?: number;
  readonly stdin?: string;
  /** Arguments on a terminal, where the CLI prompts for the missing ones. */
  readonly terminalArgs?: readonly string[];
  readonly typing?: Typing;
  readonly env?: Readonly<Record<string, string>>;
  /** Not logged in, and without settings in the environment. */
  readonly isBare?: boolean;
  /** Runs beside the command until the command ends. */
  readonly beside?: (isOver: () => boolean) => Promise<void>;
}

/** The commands of one golden file, in the order in which they build upon each other. */
export interface Chapter {
  readonly name: string;
  steps(site: Site): readonly Step[] | Promise<readonly Step[]>;
}

export const steps = (...lines: readonly (string | Step)[]): Step[] =>
  lines.map((line) => (typeof line === 'string' ? { args: line.split(' ') } : line));
