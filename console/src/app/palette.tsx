import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { CornerDownLeft } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { text } from '../text/index.ts';
import type { Target } from './palette-target.ts';
import { useTargets } from './palette-targets.ts';

/** Opens any page or resource by name and any request by its ID, and does what the caller may do. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const groups = useTargets(query);
  const isNothing = groups.every(({ targets }) => targets.length === 0);
  const open = ({ to, search = {}, started, run }: Target) => {
    onClose();
    run?.();
    if (to !== undefined) void navigate({ to, search, ...(started && { state: { started } }) });
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
              {isNothing ? (
                // An option, because a list of options may not be empty.
                <Command.Item
                  disabled
                  value="nothing"
                  className="px-3 py-8 text-center break-words text-ink-soft"
                >
                  {text.palette.nothing(query.trim())}
                </Command.Item>
              ) : null}
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
      <span className="min-w-0 flex-1 truncate">
        {target.label}
        {target.note === undefined || target.note === target.label ? null : (
          <span className="ml-2 text-xs text-ink-faint">{target.note}</span>
        )}
      </span>
      {target.kind === undefined ? null : (
        <span className="shrink-0 text-xs text-ink-faint">{target.kind}</span>
      )}
      <CornerDownLeft aria-hidden className="opacity-0 group-data-[selected=true]:opacity-100" />
    </Command.Item>
  );
}
