import type { SessionCreate } from '@relay/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { signInMethodsQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { paramOf } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { ErrorCard, Skeleton } from '../ui/states.tsx';
import { CodeField, useCode } from './code-field.tsx';
import { EmailField } from './email-field.tsx';
import { enterSession } from './enter-session.ts';
import { LinkRequest } from './link-request.tsx';
import { NoMail } from './no-mail.tsx';
import { SignUp } from './sign-up.tsx';
import { Panel, SignedOutPage } from './signed-out-page.tsx';

type Way = 'token' | 'password' | 'sign-up';

/** The page without a session: the sign-in methods of this deployment. */
export function SignIn() {
  const methods = useQuery(signInMethodsQuery(useApi()));
  const [chosen, setChosen] = useState<Way | null>(null);
  const way: Way = chosen ?? (methods.data?.accounts === true ? 'password' : 'token');
  const title = way === 'sign-up' ? text.signIn.signUpTitle : text.signIn.title;
  return (
    <SignedOutPage
      title={title}
      below={
        methods.data === undefined ? null : (
          <OtherWays methods={methods.data} way={way} onChoose={setChosen} />
        )
      }
    >
      {methods.error !== null ? (
        <ErrorCard error={methods.error} onRetry={() => void methods.refetch()} />
      ) : (
        <Panel>
          {methods.data === undefined ? (
            <FormSkeleton />
          ) : (
            <>
              {methods.data.sso && way !== 'sign-up' ? <SingleSignOn /> : null}
              {way === 'token' ? (
                <TokenForm />
              ) : way === 'password' ? (
                <PasswordForm sendsLinks={methods.data.password_reset} />
              ) : (
                <NewAccount beginsWithLink={methods.data.sign_up_link} />
              )}
            </>
          )}
        </Panel>
      )}
    </SignedOutPage>
  );
}

function OtherWays({ methods, way, onChoose }: OtherWaysProps) {
  const others: { way: Way; label: string }[] = [];
  if (methods.token && methods.accounts && way !== 'token')
    others.push({ way: 'token', label: text.signIn.withToken });
  if (methods.accounts && way !== 'password')
    others.push({ way: 'password', label: text.signIn.withPassword });
  if (methods.sign_up && way !== 'sign-up') others.push({ way: 'sign-up', label: text.signIn.signUp });
  return (
    <div className="mt-5 flex flex-col items-center gap-2 text-[13px]">
      {others.map((other) => (
        <button key={other.way} type="button" className="rounded link" onClick={() => onChoose(other.way)}>
          {other.label}
        </button>
      ))}
    </div>
  );
}

interface OtherWaysProps {
  readonly methods: { readonly token: boolean; readonly accounts: boolean; readonly sign_up: boolean };
  readonly way: Way;
  readonly onChoose: (way: Way) => void;
}

function NewAccount({ beginsWithLink }: { readonly beginsWithLink: boolean }) {
  const api = useApi();
  const words = text.signUpLink;
  if (!beginsWithLink) return <SignUp />;
  return (
    <LinkRequest
      words={{ hint: words.hint, submit: words.request, sent: words.requested }}
      send={(email) => take(api.POST('/api/signup/link', { body: { email } }))}
    />
  );
}

function SingleSignOn() {
  const returnTo = `${window.location.pathname}${window.location.search}`;
  return (
    <>
      <Button asChild look="outline" className="w-full">
        <a href={`/api/sso/start?${new URLSearchParams({ return_to: returnTo })}`}>{text.signIn.sso}</a>
      </Button>
      <p className="my-4 flex items-center gap-3 text-xs text-ink-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {text.signIn.or}
      </p>
    </>
  );
}

function useSignIn() {
  const api = useApi();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SessionCreate) => take(api.POST('/api/session', { body })),
    onSuccess: (session) => enterSession(client, session),
  });
}

function TokenForm() {
  const signIn = useSignIn();
  const [token, setToken] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ token: token.trim() });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label={text.signIn.token} hint={text.signIn.tokenHint}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="current-password"
            autoFocus
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        )}
      </Field>
      <ErrorNote error={signIn.error} />
      <Button type="submit" look="solid" className="w-full" busy={signIn.isPending}>
        {text.signIn.submit}
      </Button>
    </form>
  );
}

function PasswordForm({ sendsLinks }: { readonly sendsLinks: boolean }) {
  const signIn = useSignIn();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const code = useCode(signIn.error);
  const [organization, setOrganization] = useState('');
  // A person without an organization may create one; the error says so.
  const [mayFound, setMayFound] = useState(false);
  if (paramOf(signIn.error) === 'organization_name' && !mayFound) setMayFound(true);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const name = mayFound && organization !== '' ? { organization_name: organization } : {};
    signIn.mutate({ email, password, ...code.sent, ...name });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <EmailField value={email} onChange={setEmail} />
      <Field label={text.signIn.password}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <CodeField code={code} />
      {mayFound ? (
        <Field label={text.signIn.organization} hint={text.signIn.organizationHint}>
          {(control) => (
            <Input
              {...control}
              autoComplete="organization"
              autoFocus
              value={organization}
              onChange={(event) => setOrganization(event.target.value)}
            />
          )}
        </Field>
      ) : null}
      <ErrorNote error={code.error} />
      <Button type="submit" look="solid" className="w-full" busy={signIn.isPending}>
        {mayFound && organization !== '' ? text.signIn.signUpSubmit : text.signIn.submit}
      </Button>
      {sendsLinks ? <ForgottenLink /> : <ForgottenWithoutMail />}
    </form>
  );
}

function ForgottenLink() {
  return (
    <p className="text-center text-[13px]">
      <Link to="/forgot-password" className="link">
        {text.signIn.forgot}
      </Link>
    </p>
  );
}

function ForgottenWithoutMail() {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="text-[13px]">
      <p className="text-center">
        <button type="button" aria-expanded={isOpen} className="link" onClick={() => setOpen(!isOpen)}>
          {text.signIn.forgot}
        </button>
      </p>
      {isOpen ? (
        <div className="mt-3">
          <NoMail />
        </div>
      ) : null}
    </div>
  );
}

function FormSkeleton() {
  return (
    <div className="space-y-4">
      <Skeleton className="w-24" />
      <Skeleton className="h-9 w-full rounded-lg" />
      <Skeleton className="h-9 w-full rounded-lg" />
    </div>
  );
}
