import type { ConfigPlanRequest } from '@relay/contract';
import { writeConfigText } from '@relay/contract/config-text';
import { useQuery } from '@tanstack/react-query';
import { FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import { configExportQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field } from '../../ui/field.tsx';
import { ApplyDialog } from './apply-dialog.tsx';
import type { Finding } from './config-text.ts';
import { FileEditor } from './file-editor.tsx';
import { FindingsList } from './findings-list.tsx';
import { PlanView } from './plan-view.tsx';
import { type OrphanMode, type PlannedFile, useComparison } from './use-comparison.ts';

const words = text.configuration.compare;

const ORPHAN_OPTIONS = optionsOf(words.orphanModes);

interface CompareViewProps {
  readonly file: string;
  readonly onFile: (file: string) => void;
}

/** Compares a file with the configuration: shows what is wrong with the file, or what applying it would change. */
export function CompareView({ file, onFile }: CompareViewProps) {
  const { mode, setMode, plan, findings, rejection, change, choose, makePlan } = useComparison(file, onFile);
  const area = useRef<HTMLTextAreaElement>(null);
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
            <OrphanModeField value={mode} onChange={setMode} />
          </div>
          <Button look="solid" busy={plan.isPending} disabled={file.trim() === ''} onClick={makePlan}>
            {words.plan}
          </Button>
        </div>
      </div>
      {rejection === null ? null : (
        <p role="alert" className="border-l-[3px] border-bad py-0.5 pl-3 text-bad">
          {rejection}
        </p>
      )}
      {findings.length > 0 ? (
        <FindingsList findings={findings} error={plan.error} onGo={go} />
      ) : (
        <ErrorNote error={plan.error} />
      )}
      {plan.data === undefined ? null : (
        <PlanResult {...plan.data} onApplied={(request) => plan.mutate(request)} />
      )}
    </div>
  );
}

interface PlanResultProps extends PlannedFile {
  readonly onApplied: (request: ConfigPlanRequest) => void;
}

/** The changes, and applying them. Afterwards the plan is made again: it then shows that nothing differs. */
function PlanResult({ request, plan, onApplied }: PlanResultProps) {
  const { can, missing } = useAccess();
  const [applying, setApplying] = useState(false);
  return (
    <>
      <PlanView
        plan={plan}
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
      {applying ? (
        <ApplyDialog
          request={request}
          plan={plan}
          onClose={() => setApplying(false)}
          onApplied={() => {
            setApplying(false);
            onApplied(request);
          }}
        />
      ) : null}
    </>
  );
}

interface OrphanModeFieldProps {
  readonly value: OrphanMode;
  readonly onChange: (mode: OrphanMode) => void;
}

function OrphanModeField({ value, onChange }: OrphanModeFieldProps) {
  return (
    <Field label={words.orphans}>
      {(control) => <Choice {...control} value={value} options={ORPHAN_OPTIONS} onChange={onChange} />}
    </Field>
  );
}

interface SourcesProps {
  readonly onChoose: (file: File | undefined) => Promise<void>;
  readonly onTake: (file: string) => void;
  readonly canClear: boolean;
}

/** Loads the file from disk or from the current configuration. */
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
            // Allows choosing the same file again after it changed.
            event.target.value = '';
          }}
        />
      </div>
    </div>
  );
}
