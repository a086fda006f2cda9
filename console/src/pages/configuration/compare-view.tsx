import type { ConfigPlanRequest } from '@relay/contract';
import { writeConfigText } from '@relay/contract/config-text';
import { useQuery } from '@tanstack/react-query';
import { FileUp } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { take } from '../../api/client.ts';
import { configExportQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { formatMebibytes } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { ApplyDialog } from './apply-dialog.tsx';
import { type Finding, findingsOf, oversizeOf, readConfigText } from './config-text.ts';
import { FileEditor } from './file-editor.tsx';
import { FindingsList } from './findings-list.tsx';
import { PlanView } from './plan-view.tsx';

const words = text.configuration.compare;

type OrphanMode = keyof typeof words.orphanModes;
const ORPHAN_MODES = Object.keys(words.orphanModes) as OrphanMode[];

/** Larger ones would not be taken anyway, and would only slow the page down. */
const CHOSEN_BYTES_MAX = 8 * 1_048_576;

interface CompareViewProps {
  readonly file: string;
  readonly onFile: (file: string) => void;
}

/** A file against the configuration: what is wrong with it, or what applying it would change. */
export function CompareView({ file, onFile }: CompareViewProps) {
  const { can, missing } = useAccess();
  const [mode, setMode] = useState<OrphanMode>('keep');
  const [found, setFound] = useState<readonly Finding[]>([]);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [applying, setApplying] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const plan = useChange({
    run: async (api, request: ConfigPlanRequest) => ({
      request,
      plan: await take(api.POST('/api/relay/config/plan', { body: request })),
    }),
    stale: [],
  });
  const refused = useMemo(() => findingsOf(plan.error, file), [plan.error, file]);
  const findings = found.length > 0 ? found : refused;
  const forget = () => {
    setFound([]);
    setRefusal(null);
    plan.reset();
  };
  const change = (next: string) => {
    forget();
    onFile(next);
  };
  const choose = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    forget();
    if (chosen.size > CHOSEN_BYTES_MAX) setRefusal(tooLarge(chosen.size, CHOSEN_BYTES_MAX));
    else await chosen.text().then(change, () => setRefusal(words.unreadable));
  };
  const makePlan = () => {
    forget();
    const read = readConfigText(file);
    setFound(read.findings);
    if (read.config === null) return;
    const request = { config: read.config, ...(mode === 'keep' ? {} : { [mode]: true }) };
    const oversize = oversizeOf(request);
    if (oversize === null) plan.mutate(request);
    else setRefusal(tooLarge(oversize.bytes, oversize.bytesMax));
  };
  const go = ({ offset }: Finding) => {
    area.current?.focus();
    area.current?.setSelectionRange(offset, offset);
  };
  return (
    <div className="space-y-5">
      <div className="space-y-3">
        <Sources onChoose={choose} onTake={change} canClear={file !== ''} />
        <FileEditor value={file} findings={findings} area={area} onChange={change} />
        <div className="flex flex-wrap items-end justify-between gap-3">
          <div className="w-full sm:w-80">
            <Field label={words.orphans}>
              {(control) => (
                <Select
                  {...control}
                  value={mode}
                  onChange={(event) => {
                    forget();
                    setMode(event.target.value as OrphanMode);
                  }}
                >
                  {ORPHAN_MODES.map((each) => (
                    <option key={each} value={each}>
                      {words.orphanModes[each]}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          </div>
          <Button look="solid" busy={plan.isPending} disabled={file.trim() === ''} onClick={makePlan}>
            {words.plan}
          </Button>
        </div>
      </div>
      {refusal === null ? null : (
        <p role="alert" className="rounded-lg bg-bad-wash px-3.5 py-3 text-[13px] text-bad">
          {refusal}
        </p>
      )}
      {findings.length > 0 ? (
        <FindingsList findings={findings} error={plan.error} onGo={go} />
      ) : (
        <ErrorNote error={plan.error} />
      )}
      {plan.data === undefined ? null : (
        <PlanView
          plan={plan.data.plan}
          actions={
            can('applyConfig') ? (
              <Button look="solid" size="small" onClick={() => setApplying(true)}>
                {text.configuration.plan.apply}
              </Button>
            ) : (
              <span className="text-xs text-ink-faint">
                {text.configuration.plan.mayNotApply(missing('applyConfig').join(', '))}
              </span>
            )
          }
        />
      )}
      {applying && plan.data !== undefined ? (
        <ApplyDialog
          request={plan.data.request}
          plan={plan.data.plan}
          onClose={() => setApplying(false)}
          onApplied={() => {
            setApplying(false);
            // What is different now is nothing; the plan says so better than a sentence could.
            plan.mutate(plan.data.request);
          }}
        />
      ) : null}
    </div>
  );
}

function tooLarge(bytes: number, bytesMax: number): string {
  return words.tooLarge(formatMebibytes(bytes), formatMebibytes(bytesMax));
}

interface SourcesProps {
  readonly onChoose: (file: File | undefined) => Promise<void>;
  readonly onTake: (file: string) => void;
  readonly canClear: boolean;
}

/** Where the file comes from: the clipboard, the disk, or the configuration itself. */
function Sources({ onChoose, onTake, canClear }: SourcesProps) {
  const input = useRef<HTMLInputElement>(null);
  const exported = useQuery(configExportQuery(useApi()));
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
      <p className="max-w-xl text-[13px] text-ink-soft">{words.drop}</p>
      <div className="flex flex-wrap gap-2">
        {canClear ? (
          <Button look="quiet" size="small" onClick={() => onTake('')}>
            {words.clear}
          </Button>
        ) : null}
        <Button
          size="small"
          disabled={exported.data === undefined}
          onClick={() => onTake(exported.data === undefined ? '' : writeConfigText(exported.data))}
        >
          {words.take}
        </Button>
        <Button size="small" onClick={() => input.current?.click()}>
          <FileUp aria-hidden className="size-4" />
          {words.choose}
        </Button>
        <input
          ref={input}
          type="file"
          hidden
          accept=".yaml,.yml,.json,application/yaml,application/json"
          onChange={(event) => {
            const [chosen] = event.target.files ?? [];
            void onChoose(chosen);
            // The same file can be chosen again after it was changed.
            event.target.value = '';
          }}
        />
      </div>
    </div>
  );
}
