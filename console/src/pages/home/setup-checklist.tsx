import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import type { SetupStep } from './use-setup.ts';

const words = text.home.setup;

interface SetupChecklistProps {
  readonly steps: readonly SetupStep[];
  /** Undefined while no requests flow: then it cannot be dismissed. */
  readonly onDismiss: (() => void) | undefined;
}

/** The setup steps. */
export function SetupChecklist({ steps, onDismiss }: SetupChecklistProps) {
  const next = steps.find(({ done }) => !done);
  if (next === undefined) return null;
  const done = steps.filter((step) => step.done).length;
  return (
    <Panel
      title={words.title}
      actions={
        <span className="flex items-center gap-3 text-xs text-ink-faint tabular-nums">
          {words.progress(formatCount(done), formatCount(steps.length))}
          {onDismiss === undefined ? null : (
            <Button look="quiet" size="small" onClick={onDismiss}>
              {words.dismiss}
            </Button>
          )}
        </span>
      }
    >
      <div className="grid gap-x-10 gap-y-4 p-4 md:grid-cols-2">
        <div>
          <p className="font-medium">{words.steps[next.name].title}</p>
          <p className="mt-1 text-[13px] text-ink-soft">{words.steps[next.name].hint}</p>
          <Button asChild look="solid" size="small" className="mt-3">
            <Link to={next.path}>{words.steps[next.name].action}</Link>
          </Button>
        </div>
        <ol className="grid content-start gap-x-6 gap-y-1.5 sm:grid-cols-2">
          {steps.map((step) => (
            <Step key={step.name} step={step} isNext={step === next} />
          ))}
        </ol>
      </div>
    </Panel>
  );
}

function Step({ step, isNext }: { readonly step: SetupStep; readonly isNext: boolean }) {
  return (
    <li className="flex items-center gap-2.5 text-[13px]" aria-current={isNext ? 'step' : undefined}>
      <span
        className={classes(
          'grid size-4.5 shrink-0 place-items-center rounded-full border',
          step.done
            ? 'border-transparent bg-good-wash text-good'
            : isNext
              ? 'border-2 border-ink'
              : 'border-line-strong',
        )}
      >
        {step.done ? <Check aria-hidden className="size-3" /> : null}
        <span className="sr-only">{step.done ? words.done : words.open}</span>
      </span>
      <span className={isNext ? 'font-medium' : 'text-ink-soft'}>
        {words.steps[step.name].title}
        {step.optional && !step.done ? <span className="text-ink-faint"> {words.optional}</span> : null}
      </span>
    </li>
  );
}
