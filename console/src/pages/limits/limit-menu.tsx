import { useChange } from '../../api/use-change.ts';
import { text } from '../../text/index.ts';
import { ResourceMenu } from '../../ui/resource-menu.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { limitKinds, staleLimits, valuesOf } from './limit-kinds.ts';
import type { LimitRow } from './limit-row.ts';
import { sentenceOf } from './limit-words.ts';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits;

interface LimitMenuProps {
  readonly row: LimitRow;
  readonly places: LimitPlaces;
  readonly onDeleted: () => void;
}

export function LimitMenu({ row, places, onDeleted }: LimitMenuProps) {
  const kind = limitKinds[row.kind];
  const toggle = useChange({
    run: (api) => kind.save(api, row.id, { ...valuesOf(row), enabled: !row.enabled }),
    stale: staleLimits,
    said: () => (row.enabled ? words.disabledNow : words.enabledNow),
  });
  const remove = useChange({
    run: (api) => kind.remove(api, row.id),
    stale: staleLimits,
    said: () => words.deleted,
    onDone: onDeleted,
  });
  return (
    <ResourceMenu
      enabled={row.enabled}
      toggle={toggle}
      remove={remove}
      deleteTitle={words.deleteTitle}
      deleteAction={words.deleteAction}
      deleteBody={words.deleteBody(sentenceOf(row, places.names))}
      editDialog={(close) => <EditLimitDialog row={row} places={places} onClose={close} />}
    />
  );
}

/** Its fields can only show a resource that has been read, so they are made again then. */
export function EditLimitDialog({ row, places, onClose }: EditLimitDialogProps) {
  return (
    <LimitDialog
      key={String(isPlaceRead(row, places))}
      kinds={[row.kind]}
      places={places}
      row={row}
      onClose={onClose}
    />
  );
}

interface EditLimitDialogProps {
  readonly row: LimitRow;
  readonly places: LimitPlaces;
  readonly onClose: () => void;
}

function isPlaceRead(
  { scopeId }: LimitRow,
  { lanes, endpoints, providers, credentials }: LimitPlaces,
): boolean {
  return (
    scopeId === null ||
    [...lanes, ...endpoints, ...providers, ...credentials].some(({ id }) => id === scopeId)
  );
}
