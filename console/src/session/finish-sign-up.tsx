import { useNavigate } from '@tanstack/react-router';
import { text } from '../text/index.ts';
import { SignUp } from './sign-up.tsx';
import { Panel, SignedOutPage, SignInLink } from './signed-out-page.tsx';
import { useLink } from './use-link.ts';

/** The target of a link to sign up. */
export function FinishSignUp() {
  const link = useLink();
  const navigate = useNavigate();
  return (
    <SignedOutPage title={text.signIn.signUpTitle} below={<SignInLink />}>
      <Panel>
        {link.token === '' ? (
          <p className="text-[13px] text-ink-soft">{text.signUpLink.missing}</p>
        ) : (
          <SignUp link={link} onDone={() => navigate({ to: '/' })} />
        )}
      </Panel>
    </SignedOutPage>
  );
}
