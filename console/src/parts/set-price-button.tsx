import { useState } from 'react';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { NoPrice } from './no-price.tsx';
import { PriceDialog } from './price-dialog.tsx';

/** Sets the price that an endpoint lacks, where the lack of it is shown. */
export function SetPriceButton({ endpointId, onClose, asLink = false }: SetPriceButtonProps) {
  const { can } = useAccess();
  const [isOpen, setIsOpen] = useState(false);
  if (!can('createPricingPolicy')) return asLink ? <NoPrice /> : null;
  const close = () => {
    setIsOpen(false);
    onClose?.();
  };
  return (
    <>
      {asLink ? (
        <button
          type="button"
          className="relative z-10 whitespace-nowrap text-warn underline underline-offset-2"
          title={text.endpoints.unpricedHint}
          onClick={() => setIsOpen(true)}
        >
          {text.endpoints.prices.set}
        </button>
      ) : (
        <Button size="small" onClick={() => setIsOpen(true)}>
          {text.endpoints.prices.set}
        </Button>
      )}
      {isOpen ? <PriceDialog endpointId={endpointId} price={undefined} onClose={close} /> : null}
    </>
  );
}

interface SetPriceButtonProps {
  readonly endpointId: string;
  readonly onClose?: () => void;
  /** In a cell of a table, which says without it that there is no price. */
  readonly asLink?: boolean;
}
