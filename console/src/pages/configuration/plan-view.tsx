import type { ConfigPlan } from '@relay/contract';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../format/numbers.ts';
import { DeletedLimits } from '../../parts/deleted-limits.tsx';
import { NameChanges } from '../../parts/name-changes.tsx';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { plainValue } from '../../ui/field-changes.ts';
import { FieldDiff } from '../../ui/field-diff.tsx';
import { Panel } from '../../ui/page.tsx';
import { type PlannedChange, type PlanParts, partsOf } from './plan-parts.ts';
import { SectionLink } from './section-link.tsx';

const words = text.configuration.plan;

const TONES: Record<ConfigPlan['changes'][number]['action'], Tone> = {
  create: 'good',
  update: 'note',
  delete: 'bad',
  release: 'warn',
};
const ACTIONS = ['create', 'update', 'delete', 'release'] as const;
/** Long lists are shortened; a file can have thousands of items. */
const SHOWN_STEP = 100;

interface PlanViewProps {
  readonly plan: ConfigPlan;
  /** The apply button, or why it is missing. */
  readonly actions: ReactNode;
}

/** The changes of the plan, by resource and field. */
export function PlanView({ plan, actions }: PlanViewProps) {
  const parts = useMemo(() => partsOf(plan), [plan]);
  const [shown, setShown] = useState(SHOWN_STEP);
  const rest = parts.changes.length - shown;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Scrolls to the plan, which may be below a long file.
    if (plan.changes.length > 0) place.current?.scrollIntoView({ block: 'start' });
  }, [plan]);
  if (plan.changes.length === 0)
    return (
      <Panel>
        <p role="status" className="flex items-center gap-2.5 px-4 py-3.5">
          <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
          {words.nothing}
        </p>
        <Objects told={words.orphaned} objects={plan.orphaned} />
      </Panel>
    );
  return (
    <div ref={place} className="scroll-mt-16">
      <Panel>
        <header className="flex flex-wrap items-center justify-between gap-3 border-b px-4 py-3">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <h2 className="text-[13px] font-semibold">{words.title}</h2>
            <Counts parts={parts} />
          </div>
          {actions}
        </header>
        <ul className="divide-y">
          {parts.changes.slice(0, shown).map((change) => (
            <li key={`${change.section} ${change.key}`} className="px-4 py-3">
              <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-[13px]">
                <Badge tone={TONES[change.action]}>{words.actions[change.action]}</Badge>
                <span className="text-ink-soft">{text.configuration.sections(change.section)}</span>
                <SectionLink section={change.section} id={change.id}>
                  {change.key}
                </SectionLink>
                {change.adopted ? <span className="text-xs text-ink-faint">{words.adoptedToo}</span> : null}
              </div>
              <div className="mt-1.5">
                <FieldDiff
                  changes={change.fields}
                  kind={change.action === 'create' || change.action === 'delete' ? change.action : 'update'}
                />
              </div>
            </li>
          ))}
          {rest > 0 ? (
            <li className="px-4 py-3 text-center">
              <Button size="small" onClick={() => setShown(shown + SHOWN_STEP)}>
                {words.more(formatCount(Math.min(rest, SHOWN_STEP)))}
              </Button>
            </li>
          ) : null}
        </ul>
        <Consequences plan={plan} />
        <Objects told={words.adopted} objects={parts.adopted} />
        <Objects told={words.referenced} objects={parts.referenced} />
        <Objects told={words.orphaned} objects={plan.orphaned} />
      </Panel>
    </div>
  );
}

/** Shows which names and limits outside the file the changes affect. */
function Consequences({ plan }: { readonly plan: ConfigPlan }) {
  return (
    <>
      {plan.name_changes.length === 0 ? null : (
        <div className="border-t px-4 py-2.5 text-[13px]">
          <NameChanges changes={plan.name_changes} />
        </div>
      )}
      {plan.deleted_limits.length === 0 ? null : (
        <div className="border-t px-4 py-2.5 text-[13px]">
          <DeletedLimits limits={plan.deleted_limits} />
        </div>
      )}
    </>
  );
}

function Counts({ parts }: { readonly parts: PlanParts }) {
  const untouched = parts.adopted.length + parts.referenced.length;
  return (
    <ul className="flex flex-wrap gap-1.5">
      {ACTIONS.map((action) => {
        const count = parts.changes.filter((change) => change.action === action).length;
        return count === 0 ? null : (
          <li key={action}>
            <Badge tone={TONES[action]}>{words.counts[action](count)}</Badge>
          </li>
        );
      })}
      {untouched === 0 ? null : (
        <li>
          <Badge>{words.counts.adopt(untouched)}</Badge>
        </li>
      )}
    </ul>
  );
}

interface ObjectsProps {
  readonly told: (count: number) => string;
  readonly objects: ConfigPlan['orphaned'] | readonly PlannedChange[];
}

/** A collapsed list with its count. */
function Objects({ told, objects }: ObjectsProps) {
  if (objects.length === 0) return null;
  return (
    <details className="border-t px-4 py-2.5 text-[13px]">
      <summary className="cursor-pointer text-ink-soft">{told(objects.length)}</summary>
      <ul className="mt-2 grid gap-x-6 gap-y-1 sm:grid-cols-2">
        {objects.map((object) => (
          <li
            key={`${object.section} ${object.key}`}
            className="flex min-w-0 flex-wrap items-baseline gap-x-2"
          >
            <span className="shrink-0 text-xs text-ink-faint">
              {text.configuration.sections(object.section)}
            </span>
            <SectionLink section={object.section} id={object.id}>
              {object.key}
            </SectionLink>
            {'fields' in object
              ? object.fields.map(({ field, after }) => (
                  <code key={field} className="font-mono text-xs break-all text-ink-faint">
                    {plainValue(after)}
                  </code>
                ))
              : null}
          </li>
        ))}
      </ul>
    </details>
  );
}
