import { Popover as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

interface PopoverProps {
  /** The button that opens the popover. */
  readonly trigger: ReactNode;
  readonly label: string;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly align?: 'start' | 'end';
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Opens from a button; for content between a menu and a dialog. */
export function Popover(props: PopoverProps) {
  const { trigger, label, open, onOpenChange, align = 'end', wide = false, children } = props;
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          className={classes(
            'z-50 max-h-(--radix-popover-content-available-height) max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border bg-raised p-4 shadow-raised',
            wide ? 'w-[560px]' : 'w-80',
          )}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
