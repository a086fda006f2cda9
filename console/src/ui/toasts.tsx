import { CircleCheck, X } from 'lucide-react';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { text } from '../text/index.ts';
import { IconButton } from './button.tsx';

const SHOWN_MS = 5_000;
const TOASTS_MAX = 4;

interface Toast {
  readonly id: number;
  readonly message: string;
}

const ToastContext = createContext<((message: string) => void) | null>(null);

/** Confirms a completed action. Errors are shown next to their control instead. */
export function useToast(): (message: string) => void {
  const toast = use(ToastContext);
  if (toast === null) throw new Error('there is no ToastProvider above this component');
  return toast;
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const add = useCallback((message: string) => {
    setToasts((shown) => [...shown, { id: (shown.at(-1)?.id ?? 0) + 1, message }].slice(-TOASTS_MAX));
  }, []);
  const remove = useCallback((id: number) => {
    setToasts((shown) => shown.filter((toast) => toast.id !== id));
  }, []);
  const list = useMemo(
    () => toasts.map((toast) => <ToastLine key={toast.id} toast={toast} onEnd={remove} />),
    [toasts, remove],
  );
  return (
    <ToastContext value={add}>
      {children}
      <section
        aria-label={text.shell.notifications}
        aria-live="polite"
        className="fixed right-4 bottom-4 z-60 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2"
      >
        {list}
      </section>
    </ToastContext>
  );
}

function ToastLine({ toast, onEnd }: { readonly toast: Toast; readonly onEnd: (id: number) => void }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => onEnd(toast.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, onEnd, toast.id]);
  return (
    <div
      className="flex items-center gap-2.5 rounded-lg border bg-raised py-2 pr-2 pl-3 text-[13px] shadow-raised"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
    >
      <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
      <span className="min-w-0 flex-1 break-words">{toast.message}</span>
      <IconButton label={text.actions.dismiss} className="size-6" onClick={() => onEnd(toast.id)}>
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </div>
  );
}
