import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { classes } from './class-names.ts';

const SHOWN_MS = 1_500;

interface CopyButtonProps {
  readonly value: string;
  readonly label: string;
  /** Shows the label next to the icon. */
  readonly worded?: boolean;
  readonly onCopied?: () => void;
}

/** Copies a value and confirms it briefly. */
export function CopyButton({ value, label, worded = false, onCopied }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <Button
      look={worded ? 'outline' : 'quiet'}
      size={worded ? 'medium' : 'icon'}
      className={worded ? '' : 'size-6 rounded-md text-current'}
      aria-label={worded ? undefined : label}
      title={worded ? undefined : label}
      onClick={() => {
        void writeClipboard(value).then(() => {
          setCopied(true);
          onCopied?.();
        });
      }}
    >
      <Icon aria-hidden className={classes(worded ? 'size-4' : 'size-3.5', copied && 'text-good')} />
      {worded ? (copied ? text.actions.copied : label) : null}
      <span role="status" className="sr-only">
        {copied ? text.actions.copied : ''}
      </span>
    </Button>
  );
}

/** Without TLS, browsers provide no clipboard API; `execCommand` still works. */
async function writeClipboard(value: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(value);
    return;
  }
  const area = document.createElement('textarea');
  area.value = value;
  area.className = 'sr-only';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
