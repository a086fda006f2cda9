import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { endpointsQuery, HEALTH_REFRESH, type StoredLane } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ExplainPanel } from '../../parts/explain-panel.tsx';
import { WhatIfPanel } from '../../parts/what-if-panel.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { DiscardGuard } from './discard-guard.tsx';
import { changesOf, draftOf, type LaneDraft } from './lane-draft.ts';
import { LaneSettings } from './lane-settings.tsx';
import { MembersPanel } from './members-panel.tsx';
import { bodyOf } from './save-lane.ts';
import { SaveLaneDialog } from './save-lane-dialog.tsx';

const words = text.lanes.editor;

interface LaneEditorProps {
  /** As it is stored now. */
  readonly stored: StoredLane;
  readonly reload: () => Promise<StoredLane | undefined>;
}

export function LaneEditor({ stored, reload }: LaneEditorProps) {
  const { can } = useAccess();
  /** What the draft started from. A save names its version, so it overwrites nothing that was stored meanwhile. */
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState(() => draftOf(stored.lane));
  const [saving, setSaving] = useState(false);
  const { lane } = base;
  const changes = changesOf(draftOf(lane), draft);
  const edited = changes.length === 0 ? null : bodyOf(lane, draft);
  const start = (from: StoredLane) => {
    setBase(from);
    setDraft(draftOf(from.lane));
    setSaving(false);
  };
  const isOutdated = stored.etag !== base.etag;
  if (isOutdated && changes.length === 0) start(stored);
  const load = async () => {
    const now = await reload();
    if (now !== undefined) start(now);
  };
  const endpoints = useQuery({ ...endpointsQuery(useApi()), ...HEALTH_REFRESH });
  const endpointOf = useMemo(() => {
    const byId = new Map(endpoints.data?.map((each) => [each.id, each]));
    return (id: string) => byId.get(id);
  }, [endpoints.data]);
  const disabled = !can('updateLane') || lane.managed_by === 'file';
  const set = (part: Partial<LaneDraft>) => setDraft((before) => ({ ...before, ...part }));
  const editing = { lane, draft, disabled, set };
  return (
    <div className="grid items-start gap-x-7 gap-y-5 xl:grid-cols-[minmax(0,1fr)_400px]">
      <div className="min-w-0 space-y-5">
        <MembersPanel {...editing} endpoints={endpoints.data} />
        <Panel title={words.settings}>
          <LaneSettings {...editing} />
        </Panel>
      </div>
      <div className="min-w-0 space-y-5">
        {edited === null ? null : (
          <WhatIfPanel edit={{ operation: 'updateLane', id: lane.id, body: edited }} />
        )}
        <ExplainPanel
          model={lane.slug}
          hint={edited === null ? text.lanes.explain.hint : text.lanes.explain.unsavedHint}
          editedLane={edited === null ? undefined : { ...edited, id: lane.id }}
          endpointNameOf={(id) => endpointOf(id)?.name ?? ''}
        />
      </div>
      <DiscardGuard isDirty={changes.length > 0} />
      {changes.length === 0 ? null : (
        <UnsavedBar
          isOutdated={isOutdated && !saving}
          onDiscard={() => start(stored)}
          onSave={() => setSaving(true)}
        />
      )}
      {saving ? (
        <SaveLaneDialog
          stored={base}
          draft={draft}
          changes={changes}
          nameOf={(id) => endpointOf(id)?.name ?? id}
          onSaved={start}
          onReload={() => void load()}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </div>
  );
}

interface UnsavedBarProps {
  /** The stored lane is no longer the one that the changes started from. */
  readonly isOutdated: boolean;
  readonly onDiscard: () => void;
  readonly onSave: () => void;
}

function UnsavedBar({ isOutdated, onDiscard, onSave }: UnsavedBarProps) {
  return (
    <div className="sticky bottom-4 z-20 flex flex-wrap items-center justify-end gap-2 rounded-xl border bg-raised px-4 py-3 shadow-raised xl:col-span-2">
      <span className="mr-auto">
        <Signal tone="warn">{isOutdated ? words.outdated : words.unsaved}</Signal>
      </span>
      <Button onClick={onDiscard}>{isOutdated ? words.loadStored : words.discard}</Button>
      <Button look="solid" onClick={onSave}>
        {words.save}
      </Button>
    </div>
  );
}
