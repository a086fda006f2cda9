import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { CornerDownLeft } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { requestIdIn } from '../address/request-search.ts';
import { endpointsQuery, lanesQuery, providersQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { matches } from '../format/matches.ts';
import { useAccess } from '../session/use-access.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';

/** Of each kind; typing more narrows the list. */
const ITEMS_MAX = 20;

interface Target {
  /** Unique in the palette. */
  readonly value: string;
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

interface TargetGroup {
  readonly heading: string;
  readonly targets: readonly Target[];
}

/** Opens any page, lane, endpoint, provider or request by name. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const groups = useTargets(query);
  const open = ({ to, search = {} }: Target) => {
    onClose();
    void navigate({ to, search });
  };
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border bg-raised shadow-raised focus:outline-none"
        >
          <Dialog.Title className="sr-only">{text.palette.title}</Dialog.Title>
          <Command label={text.palette.title} shouldFilter={false}>
            <Command.Input
              autoFocus
              value={query}
              onValueChange={setQuery}
              placeholder={text.palette.placeholder}
              className="h-12 w-full border-b bg-transparent px-4 text-[15px] outline-none placeholder:text-ink-faint"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="px-3 py-8 text-center text-ink-faint">
                {text.palette.nothing}
              </Command.Empty>
              {groups.map(({ heading, targets }) => (
                <Group key={heading} heading={heading}>
                  {targets.map((target) => (
                    <Item key={target.value} target={target} onSelect={() => open(target)} />
                  ))}
                </Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** What matches the query. Uses the lists that pages have cached, and reads those that are missing. */
function useTargets(query: string): readonly TargetGroup[] {
  const api = useApi();
  const pages = usePages();
  const { can } = useAccess();
  const [lanes, endpoints, providers] = useQueries({
    queries: [
      { ...lanesQuery(api), enabled: can('listLanes') },
      { ...endpointsQuery(api), enabled: can('listEndpoints') },
      { ...providersQuery(api), enabled: can('listProviders') },
    ],
  });
  const found = <T,>(list: readonly T[] | undefined, textsOf: (each: T) => readonly string[]) =>
    (list ?? []).filter((each) => matches(query, ...textsOf(each))).slice(0, ITEMS_MAX);
  const requestId = can('getRequest') ? requestIdIn(query) : null;
  return [
    { heading: text.palette.requests, targets: requestId === null ? [] : [requestTarget(requestId)] },
    {
      heading: text.palette.pages,
      targets: found(pages, ({ label }) => [label]).map(({ path, label }) => ({
        value: path,
        label,
        to: path,
      })),
    },
    {
      heading: text.palette.lanes,
      targets: found(lanes.data, ({ id, name, slug }) => [name, slug, id]).map(({ id, name }) => ({
        value: id,
        label: name,
        to: `/lanes/${id}`,
      })),
    },
    {
      heading: text.palette.endpoints,
      targets: found(endpoints.data, (each) => [each.name, each.upstream_model, each.id]).map(
        ({ id, name }) => rowTarget('/endpoints', id, name),
      ),
    },
    {
      heading: text.palette.providers,
      targets: found(providers.data, ({ id, name, slug }) => [name, slug, id]).map(({ id, name }) =>
        rowTarget('/providers', id, name),
      ),
    },
  ];
}

function requestTarget(id: string): Target {
  return {
    value: `request ${id}`,
    label: text.palette.openRequest(id),
    to: `/requests/${id}`,
  };
}

/** A row of a list page, opened in its panel. */
function rowTarget(to: string, id: string, label: string): Target {
  return { value: id, label, to, search: { open: id } };
}

function Group({ heading, children }: { readonly heading: string; readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-faint"
    >
      {children}
    </Command.Group>
  );
}

function Item({ target, onSelect }: { readonly target: Target; readonly onSelect: () => void }) {
  return (
    <Command.Item
      value={target.value}
      onSelect={onSelect}
      className="group flex h-9 cursor-pointer items-center gap-3 rounded-lg px-2 text-[13px] data-[selected=true]:bg-hover [&_svg]:size-4 [&_svg]:text-ink-faint"
    >
      <span className="min-w-0 flex-1 truncate">{target.label}</span>
      <CornerDownLeft aria-hidden className="opacity-0 group-data-[selected=true]:opacity-100" />
    </Command.Item>
  );
}
