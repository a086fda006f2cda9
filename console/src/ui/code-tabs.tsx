import { Tabs } from 'radix-ui';
import { CodeBlock } from './code-block.tsx';

interface CodeTabsProps {
  readonly label: string;
  readonly samples: readonly { readonly id: string; readonly label: string; readonly code: string }[];
  readonly copyLabel: string;
}

/** The same thing for several clients or languages, one at a time. */
export function CodeTabs({ label, samples, copyLabel }: CodeTabsProps) {
  return (
    <Tabs.Root defaultValue={samples[0]?.id ?? ''}>
      <Tabs.List
        aria-label={label}
        className="mb-2.5 flex gap-0.5 overflow-x-auto border-b border-line-strong"
      >
        {samples.map((sample) => (
          <Tabs.Trigger
            key={sample.id}
            value={sample.id}
            className="h-[30px] border-b-2 border-transparent px-2.5 whitespace-nowrap text-ink-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-ink data-[state=active]:font-medium data-[state=active]:text-ink max-sm:h-9"
          >
            {sample.label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {samples.map((sample) => (
        <Tabs.Content key={sample.id} value={sample.id} tabIndex={-1}>
          <CodeBlock label={sample.label} code={sample.code} copyLabel={copyLabel} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
