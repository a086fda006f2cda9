import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { EmailField } from './email-field.tsx';

interface LinkRequestProps {
  readonly words: {
    readonly hint: string;
    readonly submit: string;
    readonly sent: (email: string) => string;
  };
  readonly send: (email: string) => Promise<unknown>;
}

/** Asks for an address to which Relay sends a link. It says the same for every address. */
export function LinkRequest({ words, send }: LinkRequestProps) {
  const [email, setEmail] = useState('');
  const request = useMutation({ mutationFn: () => send(email) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  if (request.isSuccess)
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        {words.sent(email)}
      </p>
    );
  return (
    <form onSubmit={submit} className="space-y-4">
      <p className="text-[13px] text-ink-soft">{words.hint}</p>
      <EmailField value={email} onChange={setEmail} />
      <ErrorNote error={request.error} />
      <Button type="submit" look="solid" className="w-full" busy={request.isPending}>
        {words.submit}
      </Button>
    </form>
  );
}
