import { useState } from 'react';
import type { ModelChoices } from './answer-pane.tsx';
import type { Settings } from './request.ts';
import { useRun } from './use-run.ts';

/** One conversation, or two with different models side by side. Both share every setting but the model. */
export function useRuns(choices: ModelChoices, first: string) {
  const [settings, setSettings] = useState<Settings>({
    operation: 'chat',
    model: first,
    system: '',
    maxTokens: 256,
    temperature: null,
    stream: true,
  });
  const [secondModel, setSecondModel] = useState(choices.lanes[1] ?? choices.models[0] ?? first);
  const [comparing, setComparing] = useState(false);
  const left = useRun();
  const right = useRun();
  const second: Settings = { ...settings, model: secondModel };
  return {
    settings,
    setSettings,
    comparing,
    setComparing,
    isRunning: left.run.state === 'running' || (comparing && right.run.state === 'running'),
    left: {
      run: left.run,
      model: settings.model,
      onModel: (model: string) => setSettings({ ...settings, model }),
      onRetry: () => void left.again(settings),
    },
    right: {
      run: right.run,
      model: secondModel,
      onModel: setSecondModel,
      onRetry: () => void right.again(second),
    },
    ask: (question: string) => {
      void left.ask(settings, question);
      if (comparing) void right.ask(second, question);
    },
    stop: () => {
      left.stop();
      right.stop();
    },
    clear: () => {
      left.clear();
      right.clear();
    },
  };
}
