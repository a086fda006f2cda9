import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  /** What the code is, for whoever comes to it by keyboard: what scrolls sideways must be reachable. */
  readonly label: string;
  readonly code: string;
  readonly copyLabel: string;
}

export function CodeBlock({ label, code, copyLabel }: CodeBlockProps) {
  return (
    <div className="relative">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must scroll by keyboard too
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto rounded-lg border bg-sunken p-3 pr-11"
      >
        <pre className="font-mono text-xs leading-relaxed">{code}</pre>
      </section>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton value={code} label={copyLabel} />
      </div>
    </div>
  );
}
