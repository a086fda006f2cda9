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
  readonly startsEditing: boolean;
  readonly onDeleted: () => void;
}

export function LimitMenu({ row, places, startsEditing, onDeleted }: LimitMenuProps) {
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
      startsEditing={startsEditing}
      enabled={row.enabled}
      toggle={toggle}
      remove={remove}
      deleteTitle={words.deleteTitle}
      deleteAction={words.deleteAction}
      deleteBody={words.deleteBody(sentenceOf(row, places.names))}
      deleteWarning={null}
      editDialog={(close) => (
        // Its fields can only show a resource that has been read, so they are made again then.
        <LimitDialog
          key={String(isPlaceRead(row, places))}
          kinds={[row.kind]}
          places={places}
          row={row}
          onClose={close}
        />
      )}
    />
  );
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
