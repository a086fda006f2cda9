import type { LimitUsage } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { LimitBar } from '../../parts/limit-bar.tsx';
import { amountOf } from '../../parts/limit-metrics.ts';
import { useTouchedNames } from '../../parts/use-touched-names.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail-list.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';
import { limitPlace } from './limit-line.ts';

const words = text.keys.panel;

interface KeyLimitsSectionProps {
  readonly keyId: string;
  /** Undefined until they are read. */
  readonly limits: readonly LimitUsage[] | undefined;
  /** Only an active key gets limits. */
  readonly mayAdd: boolean;
}

/** The limits of a key, with what is left of each. */
export function KeyLimitsSection({ keyId, limits, mayAdd }: KeyLimitsSectionProps) {
  const { can } = useAccess();
  return (
    <Section
      title={words.limits}
      actions={
        mayAdd && can('upsertApiKeyLimitPolicy') ? (
          <Button asChild size="small">
            <Link to="/limits" search={{ create: keyId }}>
              {words.addLimit}
            </Link>
          </Button>
        ) : undefined
      }
    >
      {limits === undefined ? (
        <Skeleton className="w-full" />
      ) : limits.length === 0 ? (
        <p className="text-[13px]">{words.noLimits}</p>
      ) : (
        <ul className="space-y-3">
          {limits.map((usage) => (
            <KeyLimit key={usage.policy_id} usage={usage} />
          ))}
        </ul>
      )}
      <p className="mt-3 text-xs text-ink-faint">{words.otherLimits}</p>
    </Section>
  );
}

function KeyLimit({ usage }: { readonly usage: LimitUsage }) {
  const { metric, remaining, resets_at: resetsAt } = usage;
  const place = limitPlace(usage, useTouchedNames());
  return (
    <li className="flex items-start justify-between gap-4">
      <LimitBar usage={usage} />
      <p className="text-right text-[13px] tabular-nums">
        {text.limits.leftWords(amountOf(metric, remaining))}
        <span className="block text-xs text-ink-faint">
          {place === null ? null : `${place} `}
          {resetsAt === null ? null : (
            <span className="whitespace-nowrap">
              {words.resets} <Ago at={resetsAt} />
            </span>
          )}
        </span>
      </p>
    </li>
  );
}
