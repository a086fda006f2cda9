import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, readIfPresent } from '../kit/read-input.ts';

/** The state of the demo in the data directory. */
export interface DemoState {
  /** The last ports of the simulated provider and its guardrail. */
  readonly ports: DemoPorts;
  /** The created resources, once complete; later starts do not change them. */
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

/** Atomic, so that an interrupted start keeps the old state. */
export async function writeDemoState(directory: string, state: DemoState): Promise<void> {
  const path = statePath(directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function statePath(directory: string): string {
  return join(directory, 'demo.json');
}
