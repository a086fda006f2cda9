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
      <Tabs.List aria-label={label} className="mb-3 flex flex-wrap gap-1">
        {samples.map((sample) => (
          <Tabs.Trigger
            key={sample.id}
            value={sample.id}
            className="rounded-md px-2.5 py-1 text-[13px] text-ink-soft hover:text-ink data-[state=active]:bg-hover data-[state=active]:font-medium data-[state=active]:text-ink"
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
