import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call of a tool, before it has a client's name for it. */
export interface TaskCall {
  readonly id: string;
  readonly tool: 'read' | 'shell' | 'search';
  /** The file to read, the command to run, or the tool to look for. */
  readonly what: string;
  /** What its result has to contain; the call itself does not. */
  readonly result: string;
}

/** What the model says in one turn. The last one calls no tools. */
export interface Step {
  readonly number: number;
  readonly thought: string | null;
  readonly text: string | null;
  readonly calls: readonly TaskCall[];
}

export const TURNS = 22;
/** Where the model looks for a tool that the client has not loaded yet, and which. */
const SEARCH_STEP = 5;
const SOUGHT = 'CronCreate';
export const LAST_WORDS = 'All done: “ä” 😀, nothing left to do.';

/** The files that the task reads, one for each step; their content has what JSON has to escape. */
export function writeTaskFiles(directory: string): void {
  for (let file = 0; file < TURNS; file += 1)
    writeFileSync(join(directory, nameOf(file)), `first line\n${contentOf(file)}\n\t"quoted" \\ grüße 😀\n`);
}

/** Reads files, runs commands, several together in every third turn, thinks in every second. */
export function taskSteps(directory: string): readonly Step[] {
  return Array.from({ length: TURNS }, (_, number): Step => {
    const isLast = number === TURNS - 1;
    return {
      number,
      thought: number % 2 === 0 ? `Step ${number}: I should look — “closely”.` : null,
      text: isLast ? LAST_WORDS : number % 4 === 0 ? `Now comes part ${number}: größer.` : null,
      calls: isLast ? [] : callsOf(number, directory),
    };
  });
}

function callsOf(number: number, directory: string): TaskCall[] {
  const shell = (part: number): TaskCall => ({
    id: idOf(number, part),
    tool: 'shell',
    what: `echo "sum $((${number} * 1000 + ${part} + 500000)) ä" | tee -a log.txt # ${markOf(number)}`,
    result: `sum ${number * 1_000 + part + 500_000} ä`,
  });
  const read = (part: number): TaskCall => ({
    id: idOf(number, part),
    tool: 'read',
    what: join(directory, nameOf(number)),
    result: contentOf(number),
  });
  if (number === SEARCH_STEP) return [{ id: idOf(number, 0), tool: 'search', what: SOUGHT, result: SOUGHT }];
  if (number % 3 === 0) return [shell(0), read(1), shell(2)];
  return number % 3 === 1 ? [read(0)] : [shell(0)];
}

/** The step that a request asks for: the one after the last whose calls it has. */
export function stepAskedFor(body: string): number {
  const numbers = [...body.matchAll(/call-step-(\d\d)/g)].map((match) => Number(match[1]));
  return numbers.reduce((most, number) => Math.max(most, number), -1) + 1;
}

const markOf = (number: number) => `call-step-${String(number).padStart(2, '0')}`;
const idOf = (number: number, part: number) => `${markOf(number)}-${part}`;
const nameOf = (file: number) => `notes-${file}.txt`;
const contentOf = (file: number) => `the secret of file ${file} is ${(file + 3) ** 7}`;
