import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Boxes, CornerDownLeft, List, Route, Server } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { requestIdIn } from '../address/request-id.ts';
import { endpointsQuery, lanesQuery, providersQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { matches } from '../format/matches.ts';
import { useAccess } from '../session/use-access.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';

/** Of each kind; whoever has more types another letter. */
const ITEMS_MAX = 20;

/** Goes anywhere by name. What it searches is what the pages have read already, or reads it now. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const api = useApi();
  const pages = usePages();
  const { can } = useAccess();
  const [query, setQuery] = useState('');
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
  const go = (to: string, search: Record<string, string> = {}) => {
    onClose();
    void navigate({ to, search });
  };
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade animate-appear" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border bg-raised shadow-raised animate-rise focus:outline-none"
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
              <Group heading={text.palette.requests}>
                {(requestId === null ? [] : [requestId]).map((id) => (
                  <Item
                    key={id}
                    icon={<List aria-hidden />}
                    value={`request ${id}`}
                    onSelect={() => go(`/requests/${id}`)}
                  >
                    {text.palette.openRequest(id)}
                  </Item>
                ))}
              </Group>
              <Group heading={text.palette.pages}>
                {found(pages, ({ label }) => [label]).map(({ path, label, icon: Icon }) => (
                  <Item key={path} icon={<Icon aria-hidden />} value={path} onSelect={() => go(path)}>
                    {label}
                  </Item>
                ))}
              </Group>
              <Group heading={text.palette.lanes}>
                {found(lanes.data, ({ id, name, slug }) => [name, slug, id]).map(({ id, name }) => (
                  <Item key={id} icon={<Route aria-hidden />} value={id} onSelect={() => go(`/lanes/${id}`)}>
                    {name}
                  </Item>
                ))}
              </Group>
              <Group heading={text.palette.endpoints}>
                {found(endpoints.data, (each) => [each.name, each.upstream_model, each.id]).map(
                  ({ id, name }) => (
                    <Item
                      key={id}
                      icon={<Boxes aria-hidden />}
                      value={id}
                      onSelect={() => go('/endpoints', { open: id })}
                    >
                      {name}
                    </Item>
                  ),
                )}
              </Group>
              <Group heading={text.palette.providers}>
                {found(providers.data, ({ id, name, slug }) => [name, slug, id]).map(({ id, name }) => (
                  <Item
                    key={id}
                    icon={<Server aria-hidden />}
                    value={id}
                    onSelect={() => go('/providers', { open: id })}
                  >
                    {name}
                  </Item>
                ))}
              </Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
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

function Item({ icon, value, children, onSelect }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="group flex h-9 cursor-pointer items-center gap-3 rounded-lg px-2 text-[13px] data-[selected=true]:bg-hover [&_svg]:size-4 [&_svg]:text-ink-faint"
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <CornerDownLeft aria-hidden className="opacity-0 group-data-[selected=true]:opacity-100" />
    </Command.Item>
  );
}

interface ItemProps {
  readonly icon: ReactNode;
  readonly value: string;
  readonly children: ReactNode;
  readonly onSelect: () => void;
}
