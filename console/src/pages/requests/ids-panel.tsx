import type { RequestDetail } from '@relay/contract';
import { formatDuration } from '../../format/numbers.ts';
import { formatExactTime } from '../../format/times.ts';
import { keysOf } from '../../format/values.ts';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { text } from '../../text/index.ts';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList } from '../../ui/detail-list.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { RequestNames } from './use-request-names.ts';

const words = text.requests.detail;

type IdKind = keyof typeof words.ids.names;

interface IdsPanelProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
}

/** The owner and route of a request: names, and IDs to copy. */
export function IdsPanel({ detail, names }: IdsPanelProps) {
  const ids: readonly (readonly [IdKind, string | null, string | undefined])[] = [
    ['request', detail.request_id, undefined],
    ['client', detail.client_request_id, undefined],
    ['lane', detail.lane_id, names.lane?.get(detail.lane_id ?? '')],
    ['endpoint', detail.endpoint_id, names.endpoint?.get(detail.endpoint_id ?? '')],
    ['provider', detail.provider_id, names.provider?.get(detail.provider_id ?? '')],
    ['credential', detail.credential_id, undefined],
    ['key', detail.api_key_id, names.key?.get(detail.api_key_id ?? '')],
    ['user', detail.user_uuid, names.user?.get(detail.user_uuid ?? '')],
  ];
  return (
    <Panel title={words.ids.title}>
      <div className="p-4">
        <DetailList
          rows={ids.flatMap(([kind, id, name]) =>
            id === null
              ? []
              : [
                  [
                    words.ids.names[kind],
                    <div key={kind}>
                      <LinkedName kind={kind} id={id} name={name} />
                      <CopiedValue value={id} label={words.ids.copy(words.ids.names[kind])} />
                    </div>,
                  ] as const,
                ],
          )}
        />
      </div>
    </Panel>
  );
}

function LinkedName({ kind, id, name }: LinkedNameProps) {
  if (name === undefined) return null;
  return (
    <p>
      {kind === 'request' || kind === 'client' || kind === 'credential' ? (
        name
      ) : (
        <ResourceLink kind={kind} id={id} name={name} />
      )}
    </p>
  );
}

interface LinkedNameProps {
  readonly kind: IdKind;
  readonly id: string;
  /** Undefined without access, and if it was deleted. */
  readonly name: string | undefined;
}

/** The times and durations of each step. */
export function TimingsPanel({ detail }: { readonly detail: RequestDetail }) {
  const { names } = words.timings;
  const steps = keysOf(names).flatMap((name) => {
    const ms = detail.timings[name];
    return ms === null ? [] : [[names[name], formatDuration(ms)] as const];
  });
  const moments = [
    [words.timings.arrived, detail.arrived_at],
    [words.timings.dispatched, detail.dispatched_at],
    [words.timings.finished, detail.finished_at],
  ] as const;
  return (
    <Panel title={words.timings.title}>
      <div className="p-4">
        <DetailList
          rows={[
            ...moments.flatMap(([name, at]) =>
              at === null ? [] : [[name, <Time key={name} at={at} format={formatExactTime} />] as const],
            ),
            ...steps,
          ]}
        />
      </div>
    </Panel>
  );
}
