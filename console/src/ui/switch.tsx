import { Switch as Primitive } from 'radix-ui';
import type { ControlProps } from './field.tsx';

interface SwitchProps extends Partial<ControlProps> {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label?: string;
  readonly disabled?: boolean;
}

export function Switch({ checked, onChange, label, disabled = false, ...control }: SwitchProps) {
  return (
    <Primitive.Root
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled}
      aria-label={label}
      className="relative h-[24px] w-[28px] shrink-0 before:absolute before:inset-x-0 before:top-[4px] before:h-[16px] before:rounded-full before:bg-line-strong data-[state=checked]:before:bg-solid disabled:opacity-45"
      {...control}
    >
      <Primitive.Thumb className="relative block size-[12px] translate-x-[2px] rounded-full bg-panel data-[state=checked]:translate-x-[14px] data-[state=checked]:bg-on-solid" />
    </Primitive.Root>
  );
}
