import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../ui/toasts.tsx';
import type { Api } from './client.ts';
import { cacheKeys } from './queries.ts';
import { useApi } from './use-api.ts';

export interface ChangeOptions<Input, Result> {
  readonly run: (api: Api, input: Input) => Promise<Result>;
  /**
   * The cache keys that the write makes stale. They are refetched before `onDone`, so that the page never shows
   * old state.
   */
  readonly stale: readonly QueryKey[];
  /** The toast after success; none where the page shows the result. */
  readonly said?: (result: Result, input: Input) => string;
  readonly onDone?: (result: Result, input: Input) => void;
}

const COUNTED = new Set<unknown>(
  [cacheKeys.providers, cacheKeys.endpoints, cacheKeys.lanes].map(([name]) => name),
);

/** A write. Show its `error` next to the control with `ErrorNote`. */
export function useChange<Input, Result>(options: ChangeOptions<Input, Result>) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  return useMutation<Result, Error, Input>({
    mutationFn: (input) => options.run(api, input),
    onSuccess: async (result, input) => {
      // The navigation counts these on every page; no write waits for it.
      if (options.stale.some(([name]) => COUNTED.has(name)))
        void client.invalidateQueries({ queryKey: cacheKeys.statsSummary });
      await Promise.all(options.stale.map((queryKey) => client.invalidateQueries({ queryKey })));
      if (options.said !== undefined) toast(options.said(result, input));
      options.onDone?.(result, input);
    },
  });
}
