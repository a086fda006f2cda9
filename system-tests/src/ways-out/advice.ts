import type { Person } from './prepare.ts';
import { type Again, nextCode, type Outcome, type Requests } from './requests.ts';
import { PASSWORD } from './site.ts';

/** A sentence that tells a person what to do, and the machine that does it. */
export interface Advice {
  readonly says: RegExp;
  /** A request that the person sends alone: where it leads is known once it was sent from the same state. */
  readonly is?: keyof Requests;
  readonly does: (person: Person, before: Outcome, requests: Requests) => Promise<Outcome>;
}

/** A sentence with one of these asks for an act, so it must be in the table. */
const IMPERATIVE =
  /(?:^|, (?:and |or )?)(?:ask|send|sign|open|request|check|change|invite|withdraw|create|make|choose|contact|use|try|remove)\b/i;

export const advices: readonly Advice[] = [
  { says: /^Ask an owner or admin for an invitation(, and open its link)?\.$/, does: invited },
  { says: /^Ask its owner for an invitation\.$/, does: invited },
  { says: /^Ask for a new one\.$/, does: invited },
  {
    says: /^Withdraw it with DELETE \/api\/org\/invitations\/\{invitation_id\} to send another\.$/,
    async does(person, before, requests) {
      const { body } = await person.owner.call('GET', '/api/org/invitations?limit=1000');
      const list = body as { id: string; email: string; status: string }[];
      const open = list.find(({ email, status }) => email === person.email && status === 'pending');
      await person.owner.call('DELETE', `/api/org/invitations/${open?.id}`);
      return invited(person, before, requests);
    },
  },
  {
    says: /^Change their role, or activate them if they are suspended, with PATCH \/api\/org\/members\/\{user_id\} instead\.$/,
    does: restored,
  },
  { says: /^Ask an owner or admin( of the organization)? to restore it\.$/, does: restored },
  {
    says: /^Ask the people who run it to restore it\.$/,
    async does(person, before) {
      await person.site.accounts.query(`update users set status = 'active' where id = $1`, [person.userId]);
      return before.again(person);
    },
  },
  {
    says: /^Ask its owner to change the plan\.$/,
    async does(person, before) {
      await changePlan(person);
      return before.again(person);
    },
  },
  {
    says: /^Make another member an owner first\.$/,
    async does(person, before) {
      const { browser, site, headers, fillerId } = person;
      const path = `${site.deployment.url}/api/org/members/${fillerId}`;
      const answer = await browser.send('PATCH', path, { role: 'owner' }, headers);
      return answer.status === 200 ? before.again(person) : { ...before, says: JSON.stringify(answer.body) };
    },
  },
  {
    says: /^Send its `password`\.$/,
    does: (person, before) => before.again(person, { password: PASSWORD }),
  },
  {
    says: /^Send `name` and `password` to create one\.$/,
    does: (person, before) => before.again(person, { name: 'Ada', password: PASSWORD }),
  },
  {
    says: /^Send its current code as totp_code\.$/,
    does: (person, before) => before.again(person, { totp_code: nextCode(person) }),
  },
  {
    says: /^Sign in with single sign-on first\.$/,
    async does(person, before, requests) {
      const signedIn = await requests.signIn(person);
      if (!signedIn.isIn) return signedIn;
      // The sign-in may have accepted the invitation.
      const accepted = await before.again(person);
      return accepted.isIn ? accepted : signedIn;
    },
  },
  {
    says: /^Remove one, or change the plan\.$/,
    async does(person, before) {
      const { owner, fillerId } = person;
      const removed = await owner.call('DELETE', `/api/org/members/${fillerId}`);
      if (removed.status !== 204) await changePlan(person);
      return before.again(person);
    },
  },
  { says: /^Sign in instead\.$/, is: 'signIn', does: (person, _, requests) => requests.signIn(person) },
  { says: /^Sign in without `organization_name`\.$/, does: (person, _, requests) => requests.signIn(person) },
  { says: /^Check them and try again\.$/, does: (person, _, requests) => requests.signIn(person) },
  {
    says: /^To create your own organization, sign in with a name for it \(`organization_name`\)\.$/,
    does: (person, _, requests) => requests.found(person),
  },
];

async function changePlan({ organizationId, site }: Person): Promise<void> {
  await site.accounts.query(`update organizations set plan = 'team' where id = $1`, [organizationId]);
  await site.accounts.changed(organizationId);
}

/** The owner sends another invitation, whose link the person opens. */
async function invited(person: Person, before: Outcome, requests: Requests): Promise<Outcome> {
  const body = { email: person.email, role: 'viewer' };
  const answer = await person.owner.call('POST', '/api/org/invitations', body);
  if (answer.status !== 201) return refused(answer.body, (of) => invited(of, before, requests));
  const { accept_url: link } = answer.body as { accept_url: string };
  person.token = new URL(link).hash.replace('#token=', '');
  return requests.open(person);
}

async function restored(person: Person, _: Outcome, requests: Requests): Promise<Outcome> {
  const path = `/api/org/members/${person.userId}`;
  const answer = await person.owner.call('PATCH', path, { status: 'active', role: 'developer' });
  if (answer.status !== 200) return refused(answer.body, requests.signIn);
  return requests.signIn(person);
}

function refused(body: unknown, again: Again): Outcome {
  return { isIn: false, says: (body as { error: { message: string } }).error.message, again };
}

export function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+/).filter((sentence) => IMPERATIVE.test(sentence));
}
