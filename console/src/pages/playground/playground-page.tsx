import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { CodeXml, Columns2, MessageSquarePlus } from 'lucide-react';
import { useState } from 'react';
import { modelsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { type ChoicesFor, choicesOf, namesIn } from '../../parts/model-choices.ts';
import { useRouting } from '../../parts/use-routing.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { EmptyState, ErrorCard, Skeleton } from '../../ui/states.tsx';
import { AnswerPane } from './answer-pane.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { codeSamples } from './code-samples.ts';
import { Question } from './question.tsx';
import { bodyOf } from './request.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useRuns } from './use-runs.ts';

const words = text.playground;

/** Sends real requests through the inference API, to one or two models. */
export function PlaygroundPage() {
  const models = useQuery(modelsQuery(useApi()));
  const { routing, isLoading } = useRouting();
  if (models.error !== null && models.data === undefined)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <ErrorCard error={models.error} onRetry={() => void models.refetch()} />
      </Page>
    );
  if (models.data === undefined || isLoading)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <Panel className="h-[26rem] space-y-4 p-4">
          <Skeleton className="h-9 w-full" />
          <Skeleton className="w-64" />
        </Panel>
      </Page>
    );
  if (models.data.length === 0)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <EmptyState
          title={words.noModels}
          action={
            <Button asChild look="solid">
              <Link to="/lanes">{words.toLanes}</Link>
            </Button>
          }
        />
      </Page>
    );
  return <Playground choicesFor={choicesOf(models.data, routing)} />;
}

function Playground({ choicesFor }: { readonly choicesFor: ChoicesFor }) {
  const { settings, setSettings, choices, left, right, comparing, isRunning, ...runs } = useRuns(
    choicesFor,
    useSearch({ from: '/signed-in/playground' }),
  );
  const [question, setQuestion] = useState('');
  const [codeShown, setCodeShown] = useState(false);
  const send = () => {
    const asked = question.trim();
    if (asked === '' || isRunning) return;
    setQuestion('');
    runs.ask(asked);
  };
  const turns = left.run.turns.length > 0 ? left.run.turns : [{ role: 'user' as const, content: question }];
  return (
    <Page
      title={text.pages.playground}
      description={words.description}
      actions={
        <>
          <Button onClick={runs.clear} disabled={left.run.state === 'idle'}>
            <MessageSquarePlus aria-hidden className="size-4" />
            {words.clear}
          </Button>
          <CompareButton
            comparing={comparing}
            why={runs.canCompare ? undefined : words.compareAlone(words.operations[settings.operation])}
            onChange={runs.setComparing}
          />
          <Button onClick={() => setCodeShown(true)}>
            <CodeXml aria-hidden className="size-4" />
            {words.code}
          </Button>
        </>
      }
    >
      <div className="grid items-start gap-x-7 gap-y-5 lg:grid-cols-[minmax(0,1fr)_280px]">
        <div className="min-w-0 space-y-4">
          <div className={comparing ? 'grid gap-x-7 gap-y-5 xl:grid-cols-2' : ''}>
            <AnswerPane {...left} choices={choices} />
            {comparing ? <AnswerPane {...right} choices={choices} /> : null}
          </div>
          <Question
            value={question}
            placeholder={
              settings.operation === 'embeddings' ? words.inputPlaceholder : words.messagePlaceholder
            }
            isRunning={isRunning}
            onChange={setQuestion}
            onSend={send}
            onStop={runs.stop}
          />
        </div>
        <SettingsFields
          settings={settings}
          isServed={(operation) => namesIn(choicesFor(operation)).length > 0}
          onChange={setSettings}
        />
      </div>
      {codeShown ? (
        <CodeDialog
          samples={codeSamples(window.location.origin, settings.operation, bodyOf(settings, turns))}
          onClose={() => setCodeShown(false)}
        />
      ) : null}
    </Page>
  );
}

interface CompareButtonProps {
  readonly comparing: boolean;
  /** Why there is nothing to compare; undefined if there is. */
  readonly why: string | undefined;
  readonly onChange: (comparing: boolean) => void;
}

function CompareButton({ comparing, why, onChange }: CompareButtonProps) {
  return (
    <span title={why} className="inline-flex">
      <Button
        aria-pressed={comparing}
        aria-description={why}
        disabled={why !== undefined}
        onClick={() => onChange(!comparing)}
      >
        <Columns2 aria-hidden className="size-4" />
        {comparing ? words.compareOff : words.compare}
      </Button>
    </span>
  );
}
