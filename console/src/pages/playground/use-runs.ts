import { useState } from 'react';
import type { PlaygroundSearch } from '../../address/playground-search.ts';
import { oneOf } from '../../format/values.ts';
import { type ChoicesFor, namesIn } from '../../parts/model-choices.ts';
import { playable, type Settings } from './request.ts';
import { useRun } from './use-run.ts';

/** One conversation, or two with different models side by side. Both share every setting but the model. They start as a link to the page says. */
export function useRuns(choicesFor: ChoicesFor, linked: PlaygroundSearch) {
  const [chosen, setSettings] = useState<Settings>(() => ({
    operation:
      oneOf(playable, linked.operation) ??
      playable.find((each) => namesIn(choicesFor(each)).length > 0) ??
      'chat',
    model: linked.model ?? '',
    system: '',
    maxTokens: 256,
    temperature: null,
    stream: true,
  }));
  const [chosenSecond, setSecondModel] = useState('');
  const [wantsTwo, setWantsTwo] = useState(false);
  const left = useRun();
  const right = useRun();
  // Another operation may leave a chosen model without an endpoint that serves it.
  const choices = choicesFor(chosen.operation);
  const names = namesIn(choices);
  const [first = ''] = names;
  const settings = { ...chosen, model: names.includes(chosen.model) ? chosen.model : first };
  const other = names.find((name) => name !== settings.model);
  const secondModel = names.includes(chosenSecond) ? chosenSecond : (other ?? first);
  const canCompare = other !== undefined;
  const comparing = wantsTwo && canCompare;
  const second: Settings = { ...settings, model: secondModel };
  return {
    settings,
    setSettings,
    choices,
    canCompare,
    comparing,
    setComparing: (isOn: boolean) => {
      setSecondModel(secondModel);
      setWantsTwo(isOn);
    },
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
