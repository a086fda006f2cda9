import { Pencil, Power, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { text } from '../text/index.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { MenuItem, MenuLine, MoreMenu } from './menu.tsx';

interface Step {
  readonly error: Error | null;
  readonly isPending: boolean;
  mutate(input: undefined): void;
}

interface ResourceMenuProps {
  readonly enabled: boolean;
  readonly toggle: Step;
  readonly remove: Step;
  readonly deleteTitle: string;
  readonly deleteBody: string;
  /** The button that deletes: "Delete lane". */
  readonly deleteAction: string;
  /** What else is deleted, or what changes with it. */
  readonly deleteWarning?: ReactNode;
  /** Names the resources that must be deleted or changed first, and disables Delete. */
  readonly deleteBlocker?: string | null;
  readonly editDialog: (close: () => void) => ReactNode;
  /** Further items, before Delete. */
  readonly items?: ReactNode;
  /** Opens with the dialog. */
  readonly startsEditing?: boolean;
}

/** Edit, enable or disable, and delete a resource. */
export function ResourceMenu(props: ResourceMenuProps) {
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  const { toggle, remove, startsEditing = false, deleteBlocker: blocker = null } = props;
  // Later than the panel around it, which would take the focus from the dialog.
  useEffect(() => {
    if (startsEditing) setAsked('edit');
  }, [startsEditing]);
  return (
    <>
      <ErrorNote error={toggle.error} />
      <MoreMenu>
        <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setAsked('edit')}>
          {text.actions.edit}
        </MenuItem>
        <MenuItem icon={<Power aria-hidden />} onSelect={() => toggle.mutate(undefined)}>
          {props.enabled ? text.actions.disable : text.actions.enable}
        </MenuItem>
        {props.items}
        <MenuLine />
        <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => setAsked('delete')}>
          {text.actions.delete}
        </MenuItem>
      </MoreMenu>
      {asked === 'edit' ? props.editDialog(() => setAsked(null)) : null}
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={(isOpen) => setAsked(isOpen ? 'delete' : null)}
        title={props.deleteTitle}
        action={props.deleteAction}
        blocked={blocker !== null}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{props.deleteBody}</p>
        {blocker === null ? null : <p className="font-medium text-bad">{blocker}</p>}
        {props.deleteWarning}
      </ConfirmDialog>
    </>
  );
}
