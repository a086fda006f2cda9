import type { ReactNode } from 'react';
import { cacheKeys, type StoredLane } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { hasCode } from '../../errors/api-error.ts';
import { fieldName, fieldValue } from '../../parts/field-words.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ValueChange } from '../../ui/field-diff.tsx';
import type { LaneChange, LaneDraft } from './lane-draft.ts';
import { type SaveOptions, saveLane } from './save-lane.ts';

const words = text.lanes.editor;

interface SaveLaneDialogProps {
  readonly stored: StoredLane;
  readonly draft: LaneDraft;
  readonly changes: readonly LaneChange[];
  readonly nameOf: (endpointId: string) => string;
  readonly onSaved: (saved: StoredLane) => void;
  /** Gives the changes up for what is stored now. */
  readonly onReload: () => void;
  readonly onClose: () => void;
}

/** Confirms the changes and saves them. */
export function SaveLaneDialog(props: SaveLaneDialogProps) {
  const { stored, draft, changes, nameOf, onSaved, onReload, onClose } = props;
  const save = useChange({
    run: (api, options: SaveOptions) => saveLane(api, stored, draft, options),
    stale: [cacheKeys.memberships, cacheKeys.lanes],
    said: ({ lane }) => words.saved(lane.name),
    onDone: onSaved,
  });
  const isConflict = hasCode(save.error, 'version_conflict');
  const isTaken = hasCode(save.error, 'name_taken');
  return (
    <Dialog open onOpenChange={onClose} title={words.saveTitle} description={words.saveDescription}>
      <DialogBody>
        <ul className="divide-y rounded-lg border">
          {changes.map((change) => (
            <li key={keyOf(change)} className="px-3.5 py-2.5 text-[13px]">
              {describe(change, nameOf)}
            </li>
          ))}
        </ul>
        {isConflict ? (
          <p role="alert" className="mt-4 border-l-[3px] border-warn py-0.5 pl-3 text-warn">
            {words.conflict}
          </p>
        ) : (
          <ErrorNote error={save.error} className="mt-4" />
        )}
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>{isConflict ? words.keepEditing : text.actions.cancel}</Button>
        {isConflict ? (
          <Button look="solid" onClick={onReload}>
            {words.loadStored}
          </Button>
        ) : (
          <Button look="solid" busy={save.isPending} onClick={() => save.mutate({ takesOver: isTaken })}>
            {isTaken ? words.saveAnyway : text.actions.save}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

function keyOf(change: LaneChange): string {
  return change.kind === 'field' ? change.field : `${change.kind} ${change.endpointId}`;
}

function describe(change: LaneChange, nameOf: (endpointId: string) => string): ReactNode {
  switch (change.kind) {
    case 'field':
      return (
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{fieldName(change.field, 'lane')}</span>
          <ValueChange
            before={fieldValue(change.field, change.from)}
            after={fieldValue(change.field, change.to)}
          />
        </span>
      );
    case 'added':
      return words.changes.added(nameOf(change.endpointId), change.place);
    case 'removed':
      return words.changes.removed(nameOf(change.endpointId));
    case 'moved':
      return words.changes.moved(nameOf(change.endpointId), change.from, change.to);
    case 'switched':
      return (change.enabled ? words.changes.on : words.changes.off)(nameOf(change.endpointId));
  }
}
