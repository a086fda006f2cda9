import type { Guardrail } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { take } from '../../api/client.ts';
import { guardrailQuery } from '../../api/guardrail-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { BoundToList } from './bound-to.tsx';
import { StreamsWarning } from './streams-warning.tsx';

const words = text.guardrails;

interface GuardrailSwitch {
  /** Disables immediately; enabling asks for confirmation first. */
  readonly toggle: () => void;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** Render this next to the switch. */
  readonly dialog: ReactNode;
}

export function useGuardrailSwitch(guardrail: Guardrail): GuardrailSwitch {
  const [asking, setAsking] = useState(false);
  const change = useChange({
    run: (api, enabled: boolean) =>
      take(
        api.PUT('/api/relay/guardrails/{guardrail_id}', {
          params: { path: { guardrail_id: guardrail.id } },
          body: { enabled },
        }),
      ),
    stale: [cacheKeys.guardrails, cacheKeys.guardrail],
    said: ({ name, enabled }) => (enabled ? words.enabled(name) : words.disabled(name)),
    onDone: () => setAsking(false),
  });
  return {
    toggle: () => {
      if (guardrail.enabled) change.mutate(false);
      else setAsking(true);
    },
    // The dialog shows its own error.
    error: asking ? null : change.error,
    isPending: change.isPending,
    dialog: asking ? (
      <ConfirmDialog
        open
        onOpenChange={() => setAsking(false)}
        title={words.enableTitle(guardrail.name)}
        action={words.enableAction}
        tone="solid"
        busy={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate(true)}
      >
        <WhatEnablingMeans guardrail={guardrail} />
      </ConfirmDialog>
    ) : null,
  };
}

function WhatEnablingMeans({ guardrail }: { readonly guardrail: Guardrail }) {
  const api = useApi();
  const detail = useQuery(guardrailQuery(api, guardrail.id));
  if (guardrail.binding_count === 0) return <p>{words.enableNowhere}</p>;
  return (
    <>
      <p>{words.enableWhere}</p>
      <BoundToList bindings={detail.data?.bindings ?? []} />
      <StreamsWarning guardrailId={guardrail.id} />
      <p>{guardrail.failure_mode === 'fail_closed' ? words.enableClosed : words.enableOpen}</p>
    </>
  );
}
