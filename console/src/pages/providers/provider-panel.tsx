import type { Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useStarted } from '../../address/started.ts';
import { take } from '../../api/client.ts';
import { cacheKeys, endpointsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { formatDuration } from '../../format/numbers.ts';
import { ChangesItem } from '../../parts/changes-item.tsx';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { HealthBadge, StateBadges } from '../../parts/health-badge.tsx';
import { HealthSection } from '../../parts/health-section.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { ResourceMenu } from '../../ui/resource-menu.tsx';
import { CredentialSection } from './credential-section.tsx';
import { EditProviderDialog } from './edit-provider-dialog.tsx';
import { signalOf } from './provider-signal.ts';
import { TestSection } from './test-section.tsx';
import type { ProviderRow } from './use-provider-rows.ts';

const words = text.providers;

interface ProviderPanelProps {
  readonly row: ProviderRow;
  readonly onClose: () => void;
}

/** The details of one provider, beside the list. */
export function ProviderPanel({ row: { provider, endpoints }, onClose }: ProviderPanelProps) {
  const signal = signalOf(provider, endpoints);
  const { can } = useAccess();
  const started = useStarted();
  const mayWrite = can('updateProvider') && provider.managed_by !== 'file';
  return (
    <Dialog
      open
      shape="panel"
      onOpenChange={onClose}
      title={provider.name}
      description={
        <span className="mt-1 flex flex-wrap gap-1.5">
          <HealthBadge health={signal.of.health} />
          <StateBadges enabled={provider.enabled} managedBy={provider.managed_by} />
        </span>
      }
    >
      <DialogBody>
        <Section
          title={words.overview}
          actions={
            mayWrite ? (
              <ProviderMenu provider={provider} startsEditing={started === 'edit'} onDeleted={onClose} />
            ) : undefined
          }
        >
          <DetailList
            rows={[
              [
                words.baseUrl,
                <code key="url" className="font-mono text-xs">
                  {provider.base_url}
                </code>,
              ],
              [words.signIn, authOf(provider)],
              [words.latencyMax, formatDuration(provider.max_latency_ms)],
              [words.probe, words.probes[provider.health_probe]],
              [words.slug, <CopiedValue key="slug" value={provider.slug} label={words.copySlug} />],
              [words.id, <CopiedValue key="id" value={provider.id} label={words.copyId} />],
            ]}
          />
        </Section>
        <HealthSection
          of={signal.of}
          {...(signal.endpoint !== null && { about: [words.unwellEndpoint, signal.endpoint.name] })}
        />
        <CredentialSection provider={provider} mayWrite={mayWrite} isStarted={started === 'credential'} />
        {can('testProvider') ? <TestSection provider={provider} isStarted={started === 'test'} /> : null}
      </DialogBody>
    </Dialog>
  );
}

function authOf(provider: Provider): string {
  return provider.auth_mode === 'header_static' && provider.auth_header_name !== null
    ? `${provider.auth_header_name}: …`
    : words.authModes[provider.auth_mode];
}

interface ProviderMenuProps {
  readonly provider: Provider;
  readonly startsEditing: boolean;
  readonly onDeleted: () => void;
}

function ProviderMenu({ provider, startsEditing, onDeleted }: ProviderMenuProps) {
  const { can } = useAccess();
  const endpoints = useQuery({ ...endpointsQuery(useApi()), enabled: can('listEndpoints') });
  const names = (endpoints.data ?? [])
    .filter(({ provider_id: id }) => id === provider.id)
    .map(({ name }) => name);
  const params = { path: { provider_id: provider.id } };
  const toggle = useChange({
    run: (api) =>
      take(api.PUT('/api/relay/providers/{provider_id}', { params, body: { enabled: !provider.enabled } })),
    stale: [cacheKeys.providers],
    said: ({ name, enabled }) => (enabled ? words.enabled(name) : words.disabled(name)),
  });
  const remove = useChange({
    run: (api) => api.DELETE('/api/relay/providers/{provider_id}', { params }),
    stale: [cacheKeys.providers, cacheKeys.credentials, cacheKeys.endpoints, cacheKeys.memberships],
    said: () => words.deleted(provider.name),
    onDone: onDeleted,
  });
  return (
    <ResourceMenu
      items={<ChangesItem type="provider" id={provider.id} />}
      startsEditing={startsEditing}
      enabled={provider.enabled}
      toggle={toggle}
      remove={remove}
      deleteTitle={words.deleteTitle(provider.name)}
      deleteAction={words.deleteAction}
      deleteBody={words.deleteBody}
      deleteWarning={<LimitsDeletedWith id={provider.id} />}
      deleteBlocker={names.length === 0 ? null : words.deleteEndpoints(names)}
      editDialog={(close) => <EditProviderDialog provider={provider} onClose={close} />}
    />
  );
}
