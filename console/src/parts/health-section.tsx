import type { HealthDetail } from '@relay/contract';
import { recentWords, type SeenHealth } from '@relay/contract/words';
import { text } from '../text/index.ts';
import { DetailList, Section } from '../ui/detail-list.tsx';
import { Ago } from '../ui/time.tsx';
import { HealthSentence } from './health-badge.tsx';

const words = text.health;

/** What recent requests met at an endpoint or provider, in its panel. */
export function HealthSection({ of, about }: HealthSectionProps) {
  const { health_detail: detail } = of;
  return (
    <Section title={words.title}>
      <DetailList
        rows={[
          ...(about === undefined ? [] : [about]),
          [words.state, <HealthSentence key="state" of={of} />],
          [words.recent, <Recent key="recent" of={detail} />],
          [words.lastError, <LastError key="error" of={detail.last_error} />],
        ]}
      />
    </Section>
  );
}

interface HealthSectionProps {
  readonly of: SeenHealth & { readonly health_detail: HealthDetail };
  /** What it is the health of, where that isn’t clear. */
  readonly about?: readonly [label: string, name: string];
}

function Recent({ of }: { readonly of: HealthDetail }) {
  return (
    <>
      {recentWords(of)}
      <span className="block text-xs text-ink-faint">{words.ignores}</span>
    </>
  );
}

function LastError({ of }: { readonly of: HealthDetail['last_error'] }) {
  if (of === null) return <span className="text-ink-faint">{words.none}</span>;
  return (
    <>
      {of.message}{' '}
      <span className="text-ink-faint">
        · <Ago at={of.at} />
      </span>
    </>
  );
}
