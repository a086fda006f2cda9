import type { Lane, Membership } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { endpointsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ExplainPanel } from '../../parts/explain-panel.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { changesOf, draftOf, type LaneDraft, moveMember } from './lane-draft.ts';
import { MembersList } from './members-list.tsx';
import { SaveLaneDialog } from './save-lane-dialog.tsx';
import { WaitBudgetField } from './wait-budget-field.tsx';

const words = text.lanes.editor;

interface LaneEditorProps {
  readonly lane: Lane;
  readonly memberships: readonly Membership[];
}

export function LaneEditor({ lane, memberships }: LaneEditorProps) {
  const { can } = useAccess();
  const saved = useMemo(() => draftOf(lane, memberships), [lane, memberships]);
  const [draft, setDraft] = useState(saved);
  const [saving, setSaving] = useState(false);
  const endpoints = useQuery(endpointsQuery(useApi()));
  const endpointOf = useMemo(() => {
    const byId = new Map(endpoints.data?.map((each) => [each.id, each]));
    return (id: string) => byId.get(id);
  }, [endpoints.data]);
  const changes = changesOf(saved, draft);
  const disabled = !can('updateLane') || lane.managed_by === 'file';
  const set = (part: Partial<LaneDraft>) => setDraft((before) => ({ ...before, ...part }));
  const inLane = new Set(draft.members.map(({ endpointId }) => endpointId));
  const others = endpoints.data?.filter(({ id }) => !inLane.has(id)) ?? [];
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_400px]">
      <div className="min-w-0 space-y-5">
        <Panel title={words.members}>
          <MembersList
            members={draft.members}
            endpointOf={endpointOf}
            disabled={disabled}
            onMove={(from, to) => setDraft((before) => moveMember(before, from, to))}
            onSwitch={(id, enabled) =>
              set({
                members: draft.members.map((each) => (each.endpointId === id ? { ...each, enabled } : each)),
              })
            }
            onRemove={(id) => set({ members: draft.members.filter((each) => each.endpointId !== id) })}
          />
          {disabled ? null : (
            <div className="border-t px-4 py-3">
              <Select
                aria-label={words.add}
                value=""
                disabled={others.length === 0}
                onChange={(event) =>
                  set({ members: [...draft.members, { endpointId: event.target.value, enabled: true }] })
                }
              >
                <option value="">
                  {others.length === 0 && endpoints.data !== undefined ? words.allAdded : words.addChoose}
                </option>
                {others.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            </div>
          )}
        </Panel>
        <Panel title={words.settings}>
          <Settings lane={lane} draft={draft} disabled={disabled} set={set} />
        </Panel>
      </div>
      <ExplainPanel
        model={lane.slug}
        hint={changes.length > 0 ? text.lanes.explain.unsavedHint : text.lanes.explain.hint}
        isWarning={changes.length > 0}
        endpointNameOf={(id) => endpointOf(id)?.name ?? ''}
      />
      {changes.length === 0 ? null : (
        <div className="sticky bottom-4 z-20 flex flex-wrap items-center justify-end gap-2 rounded-xl border bg-raised px-4 py-3 shadow-raised xl:col-span-2">
          <span className="mr-auto">
            <Badge tone="warn" dot>
              {words.unsaved}
            </Badge>
          </span>
          <Button onClick={() => setDraft(saved)}>{words.discard}</Button>
          <Button look="solid" onClick={() => setSaving(true)}>
            {words.save}
          </Button>
        </div>
      )}
      {saving ? (
        <SaveLaneDialog
          lane={lane}
          memberships={memberships}
          draft={draft}
          changes={changes}
          nameOf={(id) => endpointOf(id)?.name ?? id}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </div>
  );
}

interface SettingsProps {
  readonly lane: Lane;
  readonly draft: LaneDraft;
  readonly disabled: boolean;
  readonly set: (part: Partial<LaneDraft>) => void;
}

function Settings({ lane, draft, disabled, set }: SettingsProps) {
  const flag = (name: 'allow_fallback' | 'hidden' | 'enabled', label: string, hint?: string) => (
    <div className="flex items-start justify-between gap-4">
      <div>
        <p className="text-[13px] font-medium">{label}</p>
        {hint === undefined ? null : <p className="text-xs text-ink-faint">{hint}</p>}
      </div>
      <Switch
        checked={draft[name]}
        disabled={disabled}
        label={label}
        onChange={(value) => set({ [name]: value })}
      />
    </div>
  );
  return (
    <div className="space-y-6 p-4">
      <WaitBudgetField
        laneId={lane.id}
        valueMs={draft.default_max_wait_ms}
        disabled={disabled}
        onChange={(value) => set({ default_max_wait_ms: value })}
      />
      <Field label={words.selection}>
        {(control) => (
          <Select
            {...control}
            disabled={disabled}
            value={draft.selection}
            onChange={(event) => set({ selection: event.target.value as LaneDraft['selection'] })}
          >
            {Object.entries(words.selections).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {flag('allow_fallback', words.fallback, words.fallbackHint)}
      {flag('hidden', words.hidden, words.hiddenHint)}
      {flag('enabled', words.enabled)}
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={text.lanes.name}>
          {(control) => (
            <Input
              {...control}
              disabled={disabled}
              maxLength={200}
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={text.lanes.descriptionField} optional={text.states.optional}>
          {(control) => (
            <Input
              {...control}
              disabled={disabled}
              maxLength={2_000}
              value={draft.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
      </div>
    </div>
  );
}
