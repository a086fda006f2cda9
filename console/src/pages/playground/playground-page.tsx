import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CodeXml, Columns2, MessageSquarePlus, Play, Square, SquareTerminal } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { modelsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { EmptyState, ErrorCard, Skeleton } from '../../ui/states.tsx';
import { AnswerPane, type ModelChoices } from './answer-pane.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { codeSamples } from './code-samples.ts';
import { bodyOf, type Settings } from './request.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useRun } from './use-run.ts';

const words = text.playground;

/** Real requests through the front door, one or two side by side. */
export function PlaygroundPage() {
  const models = useQuery(modelsQuery(useApi()));
  if (models.error !== null && models.data === undefined)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <ErrorCard error={models.error} onRetry={() => void models.refetch()} />
      </Page>
    );
  if (models.data === undefined)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <Panel className="h-[26rem] space-y-4 p-4">
          <Skeleton className="h-9 w-full" />
          <Skeleton className="w-64" />
        </Panel>
      </Page>
    );
  const choices: ModelChoices = {
    lanes: models.data.filter((each) => each.owned_by === 'relay').map(({ id }) => id),
    models: models.data.filter((each) => each.owned_by !== 'relay').map(({ id }) => id),
  };
  const first = choices.lanes[0] ?? choices.models[0];
  if (first === undefined)
    return (
      <Page title={text.pages.playground} description={words.description}>
        <EmptyState
          icon={<SquareTerminal aria-hidden />}
          title={words.noModels}
          action={
            <Button asChild look="solid">
              <Link to="/lanes">{words.toLanes}</Link>
            </Button>
          }
        />
      </Page>
    );
  return <Playground choices={choices} first={first} />;
}

interface PlaygroundProps {
  readonly choices: ModelChoices;
  readonly first: string;
}

function Playground({ choices, first }: PlaygroundProps) {
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
  const [question, setQuestion] = useState('');
  const [codeShown, setCodeShown] = useState(false);
  const left = useRun();
  const right = useRun();
  const second: Settings = { ...settings, model: secondModel };
  const isRunning = left.run.state === 'running' || (comparing && right.run.state === 'running');
  const send = () => {
    const asked = question.trim();
    if (asked === '' || isRunning) return;
    setQuestion('');
    void left.ask(settings, asked);
    if (comparing) void right.ask(second, asked);
  };
  const stop = () => {
    left.stop();
    right.stop();
  };
  const clear = () => {
    left.clear();
    right.clear();
  };
  const turns = left.run.turns.length > 0 ? left.run.turns : [{ role: 'user' as const, content: question }];
  return (
    <Page
      title={text.pages.playground}
      description={words.description}
      actions={
        <>
          <Button onClick={clear} disabled={left.run.state === 'idle'}>
            <MessageSquarePlus aria-hidden className="size-4" />
            {words.clear}
          </Button>
          <Button aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
            <Columns2 aria-hidden className="size-4" />
            {comparing ? words.compareOff : words.compare}
          </Button>
          <Button onClick={() => setCodeShown(true)}>
            <CodeXml aria-hidden className="size-4" />
            {words.code}
          </Button>
        </>
      }
    >
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_280px]">
        <div className="min-w-0 space-y-4">
          <div className={comparing ? 'grid gap-4 xl:grid-cols-2' : ''}>
            <AnswerPane
              run={left.run}
              model={settings.model}
              choices={choices}
              onModel={(model) => setSettings({ ...settings, model })}
              onRetry={() => void left.again(settings)}
            />
            {comparing ? (
              <AnswerPane
                run={right.run}
                model={secondModel}
                choices={choices}
                onModel={setSecondModel}
                onRetry={() => void right.again(second)}
              />
            ) : null}
          </div>
          <Question
            value={question}
            placeholder={
              settings.operation === 'embeddings' ? words.inputPlaceholder : words.messagePlaceholder
            }
            isRunning={isRunning}
            onChange={setQuestion}
            onSend={send}
            onStop={stop}
          />
        </div>
        <SettingsFields settings={settings} onChange={setSettings} />
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

interface QuestionProps {
  readonly value: string;
  readonly placeholder: string;
  readonly isRunning: boolean;
  readonly onChange: (value: string) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** Enter sends, Shift and Enter begins a new line. */
function Question({ value, placeholder, isRunning, onChange, onSend, onStop }: QuestionProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <TextArea
        aria-label={words.message}
        rows={2}
        value={value}
        placeholder={placeholder}
        className="min-h-15 flex-1 resize-y"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <Button onClick={onStop}>
          <Square aria-hidden className="size-4" />
          {words.stop}
        </Button>
      ) : (
        <Button type="submit" look="solid" disabled={value.trim() === ''}>
          <Play aria-hidden className="size-4" />
          {words.run}
        </Button>
      )}
    </form>
  );
}
