import type { HealthDetail } from '@relay/contract';
import { recentWords, type SeenHealth } from '@relay/contract/words';
import { text } from '../text/index.ts';
import { DetailList, Section } from '../ui/detail-list.tsx';
import { Ago } from '../ui/time.tsx';
import { HealthSentence } from './health-badge.tsx';

const words = text.health;

/** What recent requests met at an endpoint or provider, in its panel. */
export function HealthSection({
  of,
}: {
  readonly of: SeenHealth & { readonly health_detail: HealthDetail };
}) {
  const { health_detail: detail } = of;
  return (
    <Section title={words.title}>
      <DetailList
        rows={[
          [words.state, <HealthSentence key="state" of={of} />],
          [words.recent, recentWords(detail)],
          [words.lastError, <LastError key="error" of={detail.last_error} />],
        ]}
      />
    </Section>
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
