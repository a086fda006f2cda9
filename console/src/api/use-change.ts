import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../ui/toasts.tsx';
import type { Api } from './client.ts';
import { useApi } from './use-api.ts';

export interface ChangeOptions<Input, Result> {
  readonly run: (api: Api, input: Input) => Promise<Result>;
  /** What the change makes stale. It is read again before `onDone`, so that nobody sees the old state after it. */
  readonly stale: readonly QueryKey[];
  /** What to say when it is done; nothing where the page shows it plainly. */
  readonly said?: (result: Result, input: Input) => string;
  readonly onDone?: (result: Result, input: Input) => void;
}

/** A write: whoever uses it shows `error` beside what was tried, with `ErrorNote`. */
export function useChange<Input, Result>(options: ChangeOptions<Input, Result>) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  return useMutation<Result, Error, Input>({
    mutationFn: (input) => options.run(api, input),
    onSuccess: async (result, input) => {
      await Promise.all(options.stale.map((queryKey) => client.invalidateQueries({ queryKey })));
      if (options.said !== undefined) toast(options.said(result, input));
      options.onDone?.(result, input);
    },
  });
}
