import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { Unreachable } from '../../errors/api-error.ts';
import type { Settings, Turn } from './request.ts';
import { type Facts, runRequest } from './run-request.ts';

export interface Run {
  readonly state: 'idle' | 'running' | 'done' | 'stopped' | 'failed';
  /** The finished turns; the current response is `answer` until the next question. */
  readonly turns: readonly Turn[];
  readonly answer: string;
  readonly vectors: readonly (readonly number[])[];
  readonly facts: Partial<Facts>;
  readonly error: Error | null;
}

const IDLE: Run = { state: 'idle', turns: [], answer: '', vectors: [], facts: {}, error: null };

/** One conversation: turns, the incoming response and what Relay decided. */
export function useRun() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const csrfToken = session?.csrf_token ?? '';
  const [run, setRun] = useState(IDLE);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const send = useCallback(
    async (settings: Settings, turns: readonly Turn[]) => {
      const controller = new AbortController();
      abort.current?.abort();
      abort.current = controller;
      const update = (part: (before: Run) => Partial<Run>) => {
        if (abort.current === controller) setRun((before) => ({ ...before, ...part(before) }));
      };
      setRun({ ...IDLE, state: 'running', turns });
      try {
        await runRequest(
          { settings, turns, csrfToken, signal: controller.signal },
          {
            onFacts: (facts) => update((before) => ({ facts: { ...before.facts, ...facts } })),
            onText: (text) => update((before) => ({ answer: before.answer + text })),
            onVectors: (vectors) => update(() => ({ vectors })),
          },
        );
        update(() => ({ state: 'done' }));
      } catch (error) {
        if (controller.signal.aborted) update(() => ({ state: 'stopped' }));
        else
          update(() => ({ state: 'failed', error: error instanceof Error ? error : new Unreachable(error) }));
      }
    },
    [csrfToken],
  );
  const ask = useCallback(
    (settings: Settings, question: string) => {
      const heard: readonly Turn[] =
        run.answer === ''
          ? run.turns.slice(0, -1)
          : [...run.turns, { role: 'assistant', content: run.answer }];
      const before = settings.operation === 'embeddings' ? [] : heard;
      return send(settings, [...before, { role: 'user', content: question }]);
    },
    [run.answer, run.turns, send],
  );
  return {
    run,
    ask,
    again: (settings: Settings) => send(settings, run.turns),
    stop: () => abort.current?.abort(),
    clear: () => {
      abort.current?.abort();
      abort.current = null;
      setRun(IDLE);
    },
  };
}
