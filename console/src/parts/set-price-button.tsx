import { useState } from 'react';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { PriceDialog } from './price-dialog.tsx';

/** Sets the price that an endpoint lacks, where the lack of it is shown. */
export function SetPriceButton({ endpointId, onClose }: SetPriceButtonProps) {
  const { can } = useAccess();
  const [isOpen, setIsOpen] = useState(false);
  if (!can('createPricingPolicy')) return null;
  const close = () => {
    setIsOpen(false);
    onClose?.();
  };
  return (
    <>
      <Button size="small" onClick={() => setIsOpen(true)}>
        {text.endpoints.prices.set}
      </Button>
      {isOpen ? <PriceDialog endpointId={endpointId} price={undefined} onClose={close} /> : null}
    </>
  );
}

interface SetPriceButtonProps {
  readonly endpointId: string;
  readonly onClose?: () => void;
}
