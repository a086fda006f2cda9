import type { FailureAction, RouteId } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import type { Started } from '../../address/started.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';

const words = text.failures.actions;

/** What a person needs to be able to do; null where the console has no page for it. */
const NEEDED: Readonly<Record<FailureAction['kind'], RouteId | null>> = {
  raise_limit: 'updateLimitPolicy',
  set_price: 'createPricingPolicy',
  replace_credential: 'createCredential',
  edit_provider: 'updateProvider',
  test_provider: 'testProvider',
  edit_endpoint: 'updateEndpoint',
  add_candidate: 'createMembership',
  create_lane: 'createLane',
  edit_guardrail: 'updateGuardrail',
  check_deployment: null,
};

/** What the page does as soon as it opens. */
const STARTED: Readonly<Partial<Record<FailureAction['kind'], Started>>> = {
  raise_limit: 'edit',
  replace_credential: 'credential',
  edit_provider: 'edit',
  test_provider: 'test',
  edit_endpoint: 'edit',
};

/** The action, if the caller may do it and the console has a page for it; otherwise null. */
export function useOfferedAction(action: FailureAction | null): FailureAction | null {
  const { can } = useAccess();
  const needed = action === null ? null : NEEDED[action.kind];
  return needed === null || !can(needed) ? null : action;
}

/** A button to the page where a cause is mended. */
export function CauseAction({ action }: { readonly action: FailureAction }) {
  return (
    <Button asChild size="small">
      <ActionLink action={action} />
    </Button>
  );
}

/** The class is that of the button. */
function ActionLink({ action, className = '' }: ActionLinkProps) {
  const { kind, resource_type: type, resource_id: id, resource_name: name } = action;
  const label = (
    <>
      {words[kind]}
      {name === null ? null : <span className="sr-only">: {name}</span>}
    </>
  );
  const search = { open: id ?? '' };
  const started = STARTED[kind];
  const state = started === undefined ? {} : { started };
  switch (type) {
    case 'limit':
      return (
        <Link to="/limits" search={search} state={state} className={className}>
          {label}
        </Link>
      );
    case 'endpoint':
      return (
        <Link to="/endpoints" search={search} state={state} className={className}>
          {label}
        </Link>
      );
    case 'provider':
      return (
        <Link to="/providers" search={search} state={state} className={className}>
          {label}
        </Link>
      );
    case 'lane':
      return (
        <Link to="/lanes/$laneId" params={{ laneId: id ?? '' }} className={className}>
          {label}
        </Link>
      );
    case 'guardrail':
      return (
        <Link to="/guardrails/$guardrailId" params={{ guardrailId: id ?? '' }} className={className}>
          {label}
        </Link>
      );
    case 'model':
    case null:
      return (
        <Link to="/lanes" className={className}>
          {label}
        </Link>
      );
  }
}

interface ActionLinkProps {
  readonly action: FailureAction;
  readonly className?: string;
}
