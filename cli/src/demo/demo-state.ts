import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, readIfPresent } from '../kit/read-input.ts';

/** What the demo remembers in the data directory from one start to the next. */
export interface DemoState {
  /** Where the simulated provider and its guardrail listened. */
  readonly ports: DemoPorts;
  /** Where the gateway listened; `relay demo traffic` goes there. */
  readonly url: string | null;
  /** What was created, once all of it was; later starts leave alone what people made of it. */
  readonly created: CreatedObjects | null;
}

export interface DemoPorts {
  readonly provider: number;
  readonly guardrail: number;
}

export interface CreatedObjects {
  readonly provider_ids: readonly string[];
  readonly guardrail_id: string;
}

/** Null on the first start. */
export async function readDemoState(directory: string): Promise<DemoState | null> {
  const path = statePath(directory);
  const text = await readIfPresent(path);
  return text === null ? null : (parseJson(text, path) as DemoState);
}

/** Moved into place, so that a start that is cut off leaves the old one. */
export async function writeDemoState(directory: string, state: DemoState): Promise<void> {
  const path = statePath(directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function statePath(directory: string): string {
  return join(directory, 'demo.json');
}
