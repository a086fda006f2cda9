import { text } from '../../text/index.ts';

const { rules } = text.limits;

/** How limits work, in short. */
export function LimitRules() {
  return (
    <section aria-label={rules.title} className="mt-6">
      <dl className="grid gap-x-8 gap-y-4 sm:grid-cols-2 xl:grid-cols-4">
        {[rules.cap, rules.windows, rules.reserved, rules.spend].map(([name, sentence]) => (
          <div key={name}>
            <dt className="text-[13px] font-medium">{name}</dt>
            <dd className="mt-0.5 text-[13px] text-ink-soft">{sentence}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
