import type { ConfigPlan, ConfigPlanRequest } from '@relay/contract';
import { useMemo, useState } from 'react';
import { take } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { formatBytes } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { type Finding, findingsOf, oversizeOf, readConfigText } from './config-text.ts';

const words = text.configuration.compare;

/** What happens to resources that the file managed and no longer contains. */
export type OrphanMode = keyof typeof words.orphanModes;

export interface PlannedFile {
  readonly request: ConfigPlanRequest;
  readonly plan: ConfigPlan;
}

/** The server accepts no larger file, and the page would become slow. */
const CHOSEN_BYTES_MAX = 8 * 1_048_576;

/** The state of a comparison: the plan, or why there is none. Every change of the input discards both. */
export function useComparison(file: string, onFile: (file: string) => void) {
  const [mode, setMode] = useState<OrphanMode>('keep');
  const [found, setFound] = useState<readonly Finding[]>([]);
  const [rejection, setRejection] = useState<string | null>(null);
  const plan = useChange({
    run: async (api, request: ConfigPlanRequest): Promise<PlannedFile> => ({
      request,
      plan: await take(api.POST('/api/relay/config/plan', { body: request })),
    }),
    stale: [],
  });
  const rejected = useMemo(() => findingsOf(plan.error, file), [plan.error, file]);
  const discard = () => {
    setFound([]);
    setRejection(null);
    plan.reset();
  };
  const change = (next: string) => {
    discard();
    onFile(next);
  };
  return {
    mode,
    setMode: (next: OrphanMode) => {
      discard();
      setMode(next);
    },
    plan,
    findings: found.length > 0 ? found : rejected,
    rejection,
    change,
    choose: async (chosen: File | undefined) => {
      if (chosen === undefined) return;
      discard();
      if (chosen.size > CHOSEN_BYTES_MAX) setRejection(tooLarge(chosen.size, CHOSEN_BYTES_MAX));
      else await chosen.text().then(change, () => setRejection(words.unreadable));
    },
    makePlan: () => {
      discard();
      const read = readConfigText(file);
      setFound(read.findings);
      if (read.config === null) return;
      const request = { config: read.config, ...(mode === 'keep' ? {} : { [mode]: true }) };
      const oversize = oversizeOf(request);
      if (oversize === null) plan.mutate(request);
      else setRejection(tooLarge(oversize.bytes, oversize.bytesMax));
    },
  };
}

function tooLarge(bytes: number, bytesMax: number): string {
  return words.tooLarge(formatBytes(bytes), formatBytes(bytesMax));
}
