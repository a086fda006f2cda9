import { classes } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';

interface CopiedValueProps {
  readonly value: string;
  readonly label: string;
  /** In groups of four, which are easier to type. */
  readonly grouped?: boolean;
}

/** An ID or similar value with a copy button. */
export function CopiedValue({ value, label, grouped = false }: CopiedValueProps) {
  return (
    <span className="-my-0.5 flex items-center gap-1">
      <code className={classes('min-w-0 font-mono text-xs', !grouped && 'truncate')}>
        {grouped ? value.match(/.{1,4}/g)?.join(' ') : value}
      </code>
      <CopyButton value={value} label={label} />
    </span>
  );
}
