import type { RequestDetail } from '@relay/contract';
import { Fragment } from 'react';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { type Clause, costOf, storyOf } from './story.ts';
import { nameIn, type RequestNames } from './use-request-names.ts';

const { and } = text.requests.detail.story;

const WHOLE_CHARACTERS_MAX = 16;

const LOOKS: Record<Clause['tone'], string> = {
  plain: '',
  wait: 'bg-wait-wash px-0.5 shadow-[inset_0_-3px_0_var(--wait)]',
  bad: 'text-bad',
};

/** One sentence: what became of the request. */
export function RequestStory({ detail, names }: RequestStoryProps) {
  const clauses = storyOf(detail, (id) => nameIn(names.endpoint, id));
  const cost = costOf(detail);
  return (
    <p className="max-w-[980px] text-[17px] leading-6 text-pretty first-letter:uppercase sm:text-xl sm:leading-[28px]">
      {clauses.map((clause, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a request that is over never changes
        <Fragment key={index}>
          {index === 0 ? '' : index === clauses.length - 1 ? and : ', '}
          <Said clause={clause} />
        </Fragment>
      ))}
      .
      {cost === null ? null : (
        <>
          {' '}
          <Said clause={cost} />.
        </>
      )}
    </p>
  );
}

interface RequestStoryProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
}

function Said({ clause: { tone, before, strong, after } }: { readonly clause: Clause }) {
  return (
    <span className={LOOKS[tone]}>
      {before}
      {/* A number stays with its unit; long names of endpoints may break. */}
      <b className={classes('font-semibold', strong.length <= WHOLE_CHARACTERS_MAX && 'whitespace-nowrap')}>
        {strong}
      </b>
      {after}
    </span>
  );
}
