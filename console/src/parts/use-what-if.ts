import type { ResourceEdit, WhatIf } from '@relay/contract';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { take } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';

export interface WhatIfRun {
  readonly result: WhatIf | undefined;
  readonly error: Error | null;
  readonly isRunning: boolean;
  /** The result is of another edit than the current one. */
  readonly isOutdated: boolean;
  run(): void;
  /** The server ends the replay when its client disconnects. */
  cancel(): void;
}

/** One replay at a time of the edit; null while it is incomplete. */
export function useWhatIf(edit: ResourceEdit | null): WhatIfRun {
  const api = useApi();
  const running = useRef<AbortController | null>(null);
  const replay = useMutation({
    mutationFn: (asked: ResourceEdit) => {
      const controller = new AbortController();
      running.current = controller;
      return take(api.POST('/api/relay/what-if', { body: { edit: asked }, signal: controller.signal }));
    },
  });
  useEffect(() => () => running.current?.abort(), []);
  return {
    result: replay.data,
    error: replay.error,
    isRunning: replay.isPending,
    isOutdated: JSON.stringify(replay.variables) !== JSON.stringify(edit),
    run() {
      if (edit !== null) replay.mutate(edit);
    },
    cancel() {
      running.current?.abort();
      replay.reset();
    },
  };
}
