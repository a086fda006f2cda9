import { classes } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  /** The label for keyboard users, who must be able to reach scrollable content. */
  readonly label: string;
  readonly code: string;
  readonly copyLabel: string;
  /** Limits the height of long content. */
  readonly bounded?: boolean;
}

export function CodeBlock({ label, code, copyLabel, bounded = false }: CodeBlockProps) {
  return (
    <div className="relative">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must scroll by keyboard too
        tabIndex={0}
        aria-label={label}
        className={classes(
          'overflow-x-auto rounded-lg border bg-sunken p-3 pr-11',
          bounded && 'max-h-[72vh] overflow-y-auto',
        )}
      >
        <pre className="font-mono text-xs leading-relaxed">{code}</pre>
      </section>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton value={code} label={copyLabel} />
      </div>
    </div>
  );
}
