import type { ApiKey, LimitUsage } from '@relay/contract';
import { isScope, scopes as scopeTable } from '@relay/contract';
import type { ReactNode } from 'react';
import type { DayTraffic } from '../../api/traffic-stats-queries.ts';
import { shortId } from '../../format/short-id.ts';
import { formatDateTime, formatDay } from '../../format/times.ts';
import { textOf } from '../../parts/labels-text.ts';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import type { NewKey } from './create-key.ts';
import { KeyExpiry, KeyStatus } from './key-columns.tsx';
import { KeyDaySection } from './key-day-section.tsx';
import { KeyLimitsSection } from './key-limits-section.tsx';
import { KeyMenu } from './key-menu.tsx';

const words = text.keys;

/** A key with what its panel shows of other resources. */
export interface OpenedKey {
  readonly apiKey: ApiKey;
  /** Null if unknown. */
  readonly ownerName: string | null;
  /** Null for the owner's team. */
  readonly teamName: string | null;
  readonly isOwn: boolean;
  readonly limits: readonly LimitUsage[] | undefined;
  /** The last 24 hours, as the list shows them. */
  readonly day: DayTraffic | undefined;
}

interface KeyPanelProps extends OpenedKey {
  readonly onClose: () => void;
  readonly onCreate: () => void;
  readonly onCreated: (created: NewKey) => void;
}

/** The details of one key, beside the list. */
export function KeyPanel(props: KeyPanelProps) {
  const { apiKey, isOwn, limits, day, onClose, onCreate, onCreated } = props;
  const { can } = useAccess();
  const isActive = apiKey.status === 'active';
  return (
    <Dialog
      open
      shape="panel"
      onOpenChange={onClose}
      title={apiKey.name}
      description={<KeyStatus of={apiKey.status} />}
    >
      <DialogBody>
        <Section
          title={words.panel.overview}
          actions={isActive ? <KeyMenu apiKey={apiKey} isOwn={isOwn} onCreated={onCreated} /> : undefined}
        >
          <DetailList rows={detailsOf(props)} />
        </Section>
        {can('getTimeseries') ? <KeyDaySection keyId={apiKey.id} listed={day} /> : null}
        {can('listLimitUsage') ? (
          <KeyLimitsSection keyId={apiKey.id} limits={limits} mayAdd={isActive} />
        ) : null}
        <Section
          title={words.scopes}
          actions={
            can('createApiKey') ? (
              <Button size="small" onClick={onCreate}>
                {words.create}
              </Button>
            ) : undefined
          }
        >
          <ScopeList of={apiKey.scopes} />
          <p className="mt-3 text-[13px] text-ink-soft">{words.panel.scopesFixed}</p>
        </Section>
      </DialogBody>
    </Dialog>
  );
}

function detailsOf({ apiKey, ownerName, teamName, isOwn }: OpenedKey): (readonly [string, ReactNode])[] {
  const { user_uuid: ownerId, team_id: teamId } = apiKey;
  const labels = textOf(apiKey.labels);
  const rows: (readonly [string, ReactNode] | null)[] = [
    [words.columns.owner, ownerOf(ownerId, ownerName, isOwn)],
    [
      text.teams.team,
      teamId === null ? (
        text.teams.teamOfOwner
      ) : (
        <ResourceLink key="team" kind="team" id={teamId} name={teamName ?? shortId(teamId)} />
      ),
    ],
    labels === '' ? null : [text.teams.labels, labels],
    [words.panel.created, <Time key="created" at={apiKey.created_at} format={formatDateTime} />],
    [words.columns.lastUsed, <Uses key="used" of={apiKey} />],
    endOf(apiKey),
    [
      words.panel.prefix,
      <code key="prefix" className="font-mono text-xs">
        {apiKey.key_prefix}…
      </code>,
    ],
    [words.panel.id, <CopiedValue key="id" value={apiKey.id} label={words.panel.copyId} />],
  ];
  return rows.filter((row) => row !== null);
}

function ownerOf(id: string, name: string | null, isOwn: boolean): ReactNode {
  if (name === null) return text.states.empty;
  return isOwn ? words.ownerSelf(name) : <ResourceLink key="owner" kind="user" id={id} name={name} />;
}

function endOf(apiKey: ApiKey): readonly [string, ReactNode] {
  const { revoked_at: revokedAt } = apiKey;
  return revokedAt === null
    ? [words.columns.expires, <KeyExpiry key="expires" of={apiKey} />]
    : [words.statuses.revoked, <Time key="revoked" at={revokedAt} format={formatDateTime} />];
}

function Uses({ of: { first_used_at: first, last_used_at: last } }: { readonly of: ApiKey }) {
  if (last === null) return text.states.never;
  return (
    <>
      <Ago at={last} />
      {first === null ? null : (
        <span className="text-ink-faint">
          {' · '}
          <Time at={first} format={(at) => words.firstUsed(formatDay(at))} />
        </span>
      )}
    </>
  );
}

function ScopeList({ of }: { readonly of: readonly string[] }) {
  return (
    <ul className="space-y-2 text-[13px]">
      {of.map((scope) => (
        <li key={scope}>
          <code className="font-mono text-xs">{scope}</code>
          {isScope(scope) ? <p className="text-xs text-ink-faint">{scopeTable[scope]}</p> : null}
        </li>
      ))}
    </ul>
  );
}
