import type { Endpoint } from '@relay/contract';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { Signal } from '../../ui/signal.tsx';
import { useEndpointFacts } from './use-endpoint-facts.ts';

const words = text.lanes.editor;

interface AddEndpointMenuProps {
  /** Those that are not in the lane. */
  readonly endpoints: readonly Endpoint[];
  readonly onAdd: (endpointId: string) => void;
}

/** The endpoints that can be added, with what tells them apart. */
export function AddEndpointMenu({ endpoints, onAdd }: AddEndpointMenuProps) {
  const factsOf = useEndpointFacts();
  return (
    <Menu align="start" trigger={<Button>{words.add}</Button>}>
      {endpoints.map((endpoint) => {
        const { source, price } = factsOf(endpoint);
        return (
          <MenuItem key={endpoint.id} onSelect={() => onAdd(endpoint.id)}>
            <span className="flex w-[520px] max-w-[calc(100vw-3rem)] flex-wrap justify-between gap-x-6">
              <span className="min-w-0">
                <span className="block truncate font-medium">{endpoint.name}</span>
                <span className="block truncate text-xs text-ink-faint">{source}</span>
              </span>
              <span className="text-xs sm:text-right">
                <EndpointState endpoint={endpoint} />
                <span className="block text-ink-faint">{price}</span>
              </span>
            </span>
          </MenuItem>
        );
      })}
    </Menu>
  );
}

function EndpointState({ endpoint: { enabled, health } }: { readonly endpoint: Endpoint }) {
  return enabled ? <HealthBadge health={health} /> : <Signal tone="neutral">{text.states.disabled}</Signal>;
}
