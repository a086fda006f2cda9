import { writeConfigText } from '@relay/contract/config-text';
import { useQuery } from '@tanstack/react-query';
import { Download, PencilLine } from 'lucide-react';
import { configExportQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { saveText } from '../../ui/save-text.ts';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';

const words = text.configuration.current;
const SKELETON_LINES = ['w-24', 'w-40', 'w-64', 'w-56', 'w-72', 'w-48', 'w-32'];

/** The current configuration as a file. */
export function CurrentView({ onEdit }: { readonly onEdit: (file: string) => void }) {
  const exported = useQuery(configExportQuery(useApi()));
  if (exported.error !== null && exported.data === undefined)
    return <ErrorCard error={exported.error} onRetry={() => void exported.refetch()} />;
  const file = exported.data === undefined ? undefined : writeConfigText(exported.data);
  const isReady = file !== undefined;
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <p className="max-w-2xl text-[13px] text-ink-soft">{words.hint}</p>
        <div className="flex flex-wrap gap-2">
          <Button
            disabled={!isReady}
            onClick={() => saveText(words.fileName, 'application/yaml', file ?? '')}
          >
            <Download aria-hidden className="size-4" />
            {words.download}
          </Button>
          <Button look="solid" disabled={!isReady} onClick={() => onEdit(file ?? '')}>
            <PencilLine aria-hidden className="size-4" />
            {words.edit}
          </Button>
        </div>
      </div>
      {isReady ? (
        <CodeBlock bounded label={words.label} code={file} copyLabel={words.copy} />
      ) : (
        <div className="space-y-2.5 rounded-lg border bg-sunken p-4">
          {SKELETON_LINES.map((width) => (
            <Skeleton key={width} className={width} />
          ))}
        </div>
      )}
    </div>
  );
}
