import type { Guardrail, GuardrailBinding } from '@relay/contract';
import { useState } from 'react';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { BindingsDialog } from './bindings-dialog.tsx';
import { BoundToList } from './bound-to.tsx';
import { StreamsWarning } from './streams-warning.tsx';

const words = text.guardrails.bindings;

interface BindingsPanelProps {
  readonly guardrail: Guardrail;
  readonly bindings: readonly GuardrailBinding[];
  readonly mayWrite: boolean;
}

/** The bindings and the requests they reject. */
export function BindingsPanel({ guardrail, bindings, mayWrite }: BindingsPanelProps) {
  const [changing, setChanging] = useState(false);
  return (
    <Panel
      title={words.title}
      actions={
        mayWrite ? (
          <Button size="small" onClick={() => setChanging(true)}>
            {words.change}
          </Button>
        ) : undefined
      }
    >
      <div className="space-y-3 p-4">
        <BoundToList bindings={bindings} />
        {bindings.length === 0 ? null : <StreamsWarning guardrailId={guardrail.id} now={guardrail.enabled} />}
      </div>
      {changing ? (
        <BindingsDialog guardrail={guardrail} bindings={bindings} onClose={() => setChanging(false)} />
      ) : null}
    </Panel>
  );
}
