import { useQuery } from '@tanstack/react-query';
import { Bookmark, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { RequestFilters } from '../../address/request-search.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import type { TimeRangeSearch } from '../../time-range/time-range.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Popover } from '../../ui/popover.tsx';
import { type SavedView, viewsIn, viewsPlace, withView } from './saved-views.ts';

const words = text.requests.views;

interface SavedViewsMenuProps {
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
  readonly onOpen: (view: SavedView) => void;
}

/** Named filters, stored in this browser. */
export function SavedViewsMenu({ filters, range, onOpen }: SavedViewsMenuProps) {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const place = viewsPlace(session?.org.id ?? '');
  const [open, setOpen] = useState(false);
  const [views, setViews] = useState<readonly SavedView[]>([]);
  const store = (next: readonly SavedView[]) => {
    window.localStorage.setItem(place, JSON.stringify(next));
    setViews(next);
  };
  return (
    <Popover
      label={words.title}
      open={open}
      onOpenChange={(isOpen) => {
        // Another tab may have changed them.
        if (isOpen) setViews(viewsIn(window.localStorage.getItem(place)));
        setOpen(isOpen);
      }}
      trigger={
        <Button size="small">
          <Bookmark aria-hidden className="size-4" />
          {words.button}
        </Button>
      }
    >
      <ViewList
        views={views}
        onOpen={(view) => {
          setOpen(false);
          onOpen(view);
        }}
        onRemove={(view) => store(views.filter((each) => each.name !== view.name))}
      />
      <SaveForm onSave={(name) => store(withView(views, { name, filters, range }))} />
    </Popover>
  );
}

interface ViewListProps {
  readonly views: readonly SavedView[];
  readonly onOpen: (view: SavedView) => void;
  readonly onRemove: (view: SavedView) => void;
}

function ViewList({ views, onOpen, onRemove }: ViewListProps) {
  if (views.length === 0) return <p className="text-[13px] text-ink-soft">{words.none}</p>;
  return (
    <ul className="-mx-2 -mt-1">
      {views.map((view) => (
        <li key={view.name} className="flex items-center gap-1">
          <button
            type="button"
            onClick={() => onOpen(view)}
            className="min-w-0 flex-1 truncate rounded-md px-2 py-1.5 text-left text-[13px] hover:bg-hover"
          >
            {view.name}
          </button>
          <IconButton label={words.remove(view.name)} onClick={() => onRemove(view)}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

function SaveForm({ onSave }: { readonly onSave: (name: string) => void }) {
  const [name, setName] = useState('');
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(name.trim());
    setName('');
  };
  return (
    <form onSubmit={save} className="mt-3 space-y-3 border-t pt-3">
      <Field label={words.name} hint={words.kept}>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" size="small" disabled={name.trim() === ''}>
        {words.save}
      </Button>
    </form>
  );
}
