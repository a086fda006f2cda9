import type { ResourceEdit } from '@relay/contract';
import { useId } from 'react';
import { hasCode } from '../errors/api-error.ts';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { useWhatIf, type WhatIfRun } from './use-what-if.ts';
import { WhatIfDetails, WhatIfSummary } from './what-if-result.tsx';

const words = text.whatIf;

interface WhatIfPanelProps {
  /** Null while the edit is incomplete. */
  readonly edit: ResourceEdit | null;
  /** What no replay of past requests can tell, shown with the result; null for none. */
  readonly note?: string | null;
}

/** What an unsaved edit would have done to the requests of the last 7 days. It runs on a button: a replay takes seconds. */
export function WhatIfPanel({ edit, note = null }: WhatIfPanelProps) {
  const titleId = useId();
  const { can } = useAccess();
  const replay = useWhatIf(edit);
  if (!can('whatIf')) return null;
  const { result, isRunning, run, cancel } = replay;
  const isShown = result !== undefined && !isRunning;
  const laneId = edit?.operation === 'updateLane' ? edit.id : undefined;
  return (
    <section
      aria-labelledby={titleId}
      aria-busy={isRunning}
      className="min-w-0 border border-t-2 border-t-rule bg-panel px-4 pt-2.5 pb-3.5"
    >
      <h2 id={titleId} className="mb-1.5 font-semibold">
        {words.title}
      </h2>
      <div role="status">
        <State replay={replay} laneId={laneId} note={note} />
      </div>
      {isShown ? <WhatIfDetails result={result} laneId={laneId} /> : null}
      <div className="mt-3 flex flex-wrap items-center gap-2">
        {/* One button, so that the keyboard's focus stays on it. */}
        <Button disabled={!isRunning && edit === null} onClick={isRunning ? cancel : run}>
          {isRunning ? words.cancel : isShown ? words.again : words.run}
        </Button>
        {edit === null ? <span className="text-xs text-ink-faint">{words.incomplete}</span> : null}
      </div>
    </section>
  );
}

interface StateProps {
  readonly replay: WhatIfRun;
  readonly laneId: string | undefined;
  readonly note: string | null;
}

function State({ replay: { result, error, isRunning, isOutdated }, laneId, note }: StateProps) {
  if (isRunning)
    return (
      <>
        <p>{words.running}</p>
        <p className="text-xs text-ink-faint">{words.runningHint}</p>
      </>
    );
  if (hasCode(error, 'queue_full')) return <p className="text-warn">{words.busy}</p>;
  if (error !== null) return <ErrorNote error={error} />;
  if (result === undefined) return <p className="text-ink-faint">{words.hint}</p>;
  return (
    <>
      {isOutdated ? <p className="mb-2 border-l-[3px] border-warn pl-3 text-warn">{words.outdated}</p> : null}
      <WhatIfSummary result={result} laneId={laneId} />
      {note === null ? null : <p className="mt-1">{note}</p>}
    </>
  );
}
