import { EllipsisVertical } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { text } from '../text/index.ts';
import { IconButton } from './button.tsx';
import { classes } from './class-names.ts';

/** A menu that opens from `trigger`; its items are `MenuItem`. */
export function Menu({ trigger, children, align = 'end' }: MenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-lg border bg-raised p-1 shadow-raised"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuProps {
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'center' | 'end';
}

/** The further actions of a page, a panel or a row. */
export function MoreMenu({ of, children }: MoreMenuProps) {
  const label = of === undefined ? text.actions.more : `${text.actions.more}: ${of}`;
  return (
    <Menu
      trigger={
        <IconButton label={label}>
          <EllipsisVertical aria-hidden className="size-4" />
        </IconButton>
      }
    >
      {children}
    </Menu>
  );
}

interface MoreMenuProps {
  /** The name of the row, where a page has several of these menus. */
  readonly of?: string;
  readonly children: ReactNode;
}

export function MenuItem({ icon, danger = false, disabled = false, children, onSelect }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={onSelect}
      className={classes(
        'flex items-center gap-2.5 rounded-md px-2 py-1.5 text-[13px] outline-none select-none cursor-pointer',
        'data-highlighted:bg-hover data-disabled:opacity-50 data-disabled:pointer-events-none [&_svg]:size-4',
        danger ? 'text-bad' : 'text-ink [&_svg]:text-ink-faint',
      )}
    >
      {icon}
      {children}
    </DropdownMenu.Item>
  );
}

interface MenuItemProps {
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly children: ReactNode;
  readonly onSelect: () => void;
}

/** A group of options with one selected. */
export function MenuChoice<T extends string>({ value, options, onChange }: MenuChoiceProps<T>) {
  return (
    <DropdownMenu.RadioGroup
      value={value}
      onValueChange={(next) => {
        const chosen = options.find((option) => option.value === next);
        if (chosen !== undefined) onChange(chosen.value);
      }}
    >
      {options.map((option) => (
        <DropdownMenu.RadioItem
          key={option.value}
          value={option.value}
          className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-[13px] outline-none select-none cursor-pointer data-highlighted:bg-hover data-[state=checked]:font-semibold [&_svg]:size-4 [&_svg]:text-ink-faint"
        >
          {option.icon}
          <span className="flex-1">{option.label}</span>
          <DropdownMenu.ItemIndicator>
            <span aria-hidden className="block size-1.5 rounded-full bg-served" />
          </DropdownMenu.ItemIndicator>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

interface MenuChoiceProps<T extends string> {
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string; readonly icon?: ReactNode }[];
  readonly onChange: (value: T) => void;
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2 pt-1.5 pb-1 text-xs font-medium text-ink-faint">
      {children}
    </DropdownMenu.Label>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}
