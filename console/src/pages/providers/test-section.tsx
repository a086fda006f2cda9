import type { Provider } from '@relay/contract';
import { useEffect, useEffectEvent, useRef } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { ConnectionTest } from '../../parts/connection-test.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ImportModels } from './import-models.tsx';

const words = text.providers.test;

interface TestSectionProps {
  readonly provider: Provider;
  /** Opens with the test running. */
  readonly isStarted: boolean;
}

/** Tests the stored provider, shows the failed stage and offers its models. */
export function TestSection({ provider, isStarted }: TestSectionProps) {
  const { can } = useAccess();
  const test = useChange({
    run: (api) =>
      take(
        api.POST('/api/relay/providers/{provider_id}/test', {
          params: { path: { provider_id: provider.id } },
        }),
      ),
    stale: [cacheKeys.providers, cacheKeys.credentials],
  });
  const place = useRef<HTMLDivElement>(null);
  const start = useEffectEvent(() => {
    place.current?.scrollIntoView({ block: 'start' });
    test.mutate(undefined);
  });
  useEffect(() => {
    if (isStarted) start();
  }, [isStarted]);
  return (
    <div ref={place}>
      <Section
        title={words.title}
        actions={
          <Button size="small" busy={test.isPending} onClick={() => test.mutate(undefined)}>
            {test.isPending ? words.running : test.data === undefined ? words.run : words.again}
          </Button>
        }
      >
        {test.data === undefined && test.error === null ? (
          <p className="text-[13px] text-ink-soft">{words.hint}</p>
        ) : null}
        <ErrorNote error={test.error} />
        {test.data === undefined ? null : (
          <div className="space-y-5">
            <ConnectionTest result={test.data} />
            {test.data.model_ids.length > 0 && can('createEndpoint') ? (
              <ImportModels
                provider={provider}
                modelIds={test.data.model_ids}
                protocol={test.data.protocol ?? 'openai'}
              />
            ) : null}
          </div>
        )}
      </Section>
    </div>
  );
}
