import { useStarted } from '../../address/started.ts';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { formatCount, formatDuration } from '../../format/numbers.ts';
import { ChangesItem } from '../../parts/changes-item.tsx';
import { ConnectionTest } from '../../parts/connection-test.tsx';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { HealthBadge, StateBadges } from '../../parts/health-badge.tsx';
import { HealthSection } from '../../parts/health-section.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ResourceMenu } from '../../ui/resource-menu.tsx';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { PriceSection } from './price-section.tsx';
import type { EndpointRow } from './use-endpoint-rows.ts';

const words = text.endpoints;

interface EndpointPanelProps {
  readonly row: EndpointRow;
  readonly onClose: () => void;
}

/** The details of one endpoint, beside the list. */
export function EndpointPanel({ row, onClose }: EndpointPanelProps) {
  const { can } = useAccess();
  const { endpoint, lanes } = row;
  const started = useStarted();
  const mayWrite = can('updateEndpoint') && endpoint.managed_by !== 'file';
  return (
    <Dialog
      open
      shape="panel"
      onOpenChange={onClose}
      title={endpoint.name}
      description={
        <span className="mt-1 flex flex-wrap items-center gap-1.5">
          <HealthBadge health={endpoint.health} />
          <StateBadges enabled={endpoint.enabled} managedBy={endpoint.managed_by} />
        </span>
      }
    >
      <DialogBody>
        <Section
          title={words.details}
          actions={
            mayWrite ? (
              <EndpointMenu row={row} startsEditing={started === 'edit'} onDeleted={onClose} />
            ) : undefined
          }
        >
          <Details row={row} />
        </Section>
        <HealthSection of={endpoint} />
        {can('listPricingPolicies') ? <PriceSection row={row} /> : null}
        <Section title={words.inLanes}>
          {lanes.length === 0 ? (
            <p className="text-[13px] text-ink-soft">{words.inNoLane}</p>
          ) : (
            <ul className="flex flex-wrap gap-1.5">
              {lanes.map(({ id, name }) => (
                <li key={id}>
                  <Badge>{name}</Badge>
                </li>
              ))}
            </ul>
          )}
        </Section>
        {can('testEndpoint') ? <TestSection endpointId={endpoint.id} /> : null}
      </DialogBody>
    </Dialog>
  );
}

function Details({ row: { endpoint, provider } }: { readonly row: EndpointRow }) {
  const call = `${provider?.slug ?? '…'}/${endpoint.upstream_model}`;
  return (
    <DetailList
      rows={[
        [words.provider, provider?.name ?? endpoint.provider_id],
        [
          words.model,
          <code key="model" className="font-mono text-xs">
            {endpoint.upstream_model}
          </code>,
        ],
        [
          words.callAs,
          <span key="call" className="-my-0.5 flex items-center gap-1">
            <code className="truncate font-mono text-xs">{call}</code>
            <CopyButton value={call} label={words.copyCall} />
          </span>,
        ],
        [words.protocol, words.protocols[endpoint.protocol]],
        [words.kind, words.kinds[endpoint.route_kind]],
        [words.streaming, endpoint.supports_streaming ? words.yes : words.no],
        [words.pacing, endpoint.pacing ? words.yes : words.no],
        [
          words.concurrency,
          endpoint.max_concurrency === null ? words.unlimited : formatCount(endpoint.max_concurrency),
        ],
        [
          words.context,
          endpoint.context_window === null
            ? words.unknown
            : `${formatCount(endpoint.context_window)} ${words.tokens}`,
        ],
        [words.latencyMax, formatDuration(endpoint.max_latency_ms)],
      ]}
    />
  );
}

function TestSection({ endpointId }: { readonly endpointId: string }) {
  const test = useChange({
    run: (api) =>
      take(
        api.POST('/api/relay/endpoints/{endpoint_id}/test', {
          params: { path: { endpoint_id: endpointId } },
        }),
      ),
    stale: [cacheKeys.endpoints],
  });
  const labels = text.providers.test;
  return (
    <Section
      title={labels.title}
      actions={
        <Button size="small" busy={test.isPending} onClick={() => test.mutate(undefined)}>
          {test.isPending ? labels.running : test.data === undefined ? labels.run : labels.again}
        </Button>
      }
    >
      <ErrorNote error={test.error} />
      {test.data === undefined ? (
        <p className="text-[13px] text-ink-soft">{labels.endpointHint}</p>
      ) : (
        <ConnectionTest result={test.data} />
      )}
    </Section>
  );
}

interface EndpointMenuProps {
  readonly row: EndpointRow;
  readonly startsEditing: boolean;
  readonly onDeleted: () => void;
}

function EndpointMenu({ row, startsEditing, onDeleted }: EndpointMenuProps) {
  const { endpoint, lanes } = row;
  const params = { path: { endpoint_id: endpoint.id } };
  const toggle = useChange({
    run: (api) =>
      take(api.PUT('/api/relay/endpoints/{endpoint_id}', { params, body: { enabled: !endpoint.enabled } })),
    stale: [cacheKeys.endpoints],
    said: ({ name, enabled }) => (enabled ? words.enabled(name) : words.disabled(name)),
  });
  const remove = useChange({
    run: (api) => api.DELETE('/api/relay/endpoints/{endpoint_id}', { params }),
    stale: [cacheKeys.endpoints, cacheKeys.memberships, cacheKeys.prices],
    said: () => words.deleted(endpoint.name),
    onDone: onDeleted,
  });
  return (
    <ResourceMenu
      items={<ChangesItem type="endpoint" id={endpoint.id} />}
      startsEditing={startsEditing}
      enabled={endpoint.enabled}
      toggle={toggle}
      remove={remove}
      deleteTitle={words.deleteTitle(endpoint.name)}
      deleteAction={words.deleteAction}
      deleteBody={words.deleteBody}
      deleteWarning={<LimitsDeletedWith id={endpoint.id} />}
      deleteBlocker={lanes.length === 0 ? null : words.deleteLanes(lanes.map(({ name }) => name))}
      editDialog={(close) => <EndpointDialog endpoint={endpoint} onClose={close} onSaved={close} />}
    />
  );
}
