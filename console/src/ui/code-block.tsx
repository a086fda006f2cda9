import { classes } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  /** What the code is, for whoever comes to it by keyboard: what scrolls sideways must be reachable. */
  readonly label: string;
  readonly code: string;
  readonly copyLabel: string;
  /** What may be long scrolls within itself. */
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
