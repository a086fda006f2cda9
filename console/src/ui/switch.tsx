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
      className="h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors data-[state=checked]:bg-accent disabled:opacity-50"
      {...control}
    >
      <Primitive.Thumb className="block size-4 translate-x-0.5 rounded-full bg-white shadow-sm transition-transform data-[state=checked]:translate-x-[18px]" />
    </Primitive.Root>
  );
}
