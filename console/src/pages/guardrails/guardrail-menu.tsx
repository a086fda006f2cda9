import type { Guardrail } from '@relay/contract';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { ChangesItem } from '../../parts/changes-item.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ResourceMenu } from '../../ui/resource-menu.tsx';
import { EditGuardrailDialog } from './edit-guardrail-dialog.tsx';
import { useGuardrailSwitch } from './use-guardrail-switch.tsx';

const words = text.guardrails;

interface GuardrailMenuProps {
  readonly guardrail: Guardrail;
  readonly onDeleted: () => void;
}

/** The actions on a guardrail. */
export function GuardrailMenu({ guardrail, onDeleted }: GuardrailMenuProps) {
  const { toggle, error, isPending, dialog } = useGuardrailSwitch(guardrail);
  const remove = useChange({
    run: (api) =>
      api.DELETE('/api/relay/guardrails/{guardrail_id}', {
        params: { path: { guardrail_id: guardrail.id } },
      }),
    // The guardrail itself is not refetched, because this page would read a deleted resource.
    stale: [cacheKeys.guardrails],
    said: () => words.deleted(guardrail.name),
    onDone: onDeleted,
  });
  return (
    <>
      <Button look={guardrail.enabled ? 'outline' : 'solid'} busy={isPending} onClick={toggle}>
        {guardrail.enabled ? text.actions.disable : text.actions.enable}
      </Button>
      <ResourceMenu
        items={<ChangesItem type="guardrail" id={guardrail.id} />}
        enabled={guardrail.enabled}
        toggle={{ error, isPending, mutate: toggle }}
        remove={remove}
        deleteTitle={words.deleteTitle(guardrail.name)}
        deleteAction={words.deleteAction}
        deleteBody={words.deleteBody}
        deleteWarning={
          guardrail.enabled ? <p className="font-medium text-bad">{words.deleteEnabled}</p> : null
        }
        editDialog={(close) => <EditGuardrailDialog guardrail={guardrail} onClose={close} />}
      />
      {dialog}
    </>
  );
}
