/** Three pages show spend: what each one answers, and when the others point to it. */
export const spendPagesText = {
  answers: {
    '/usage': 'See how requests, tokens, spend and latency change over time',
    '/showback': 'See who spent what, by team, key, member, model or label',
    '/billing': 'See what each month cost, with invoices and payments',
  },
  selfHostedBilling: 'See what each month cost at your configured prices',
  /** After "for". */
  others: {
    '/usage': 'changes over time',
    '/showback': 'each team’s share',
    '/billing': 'a month’s statement',
  },
  first: '; for ',
  next: ', and for ',
  see: ' see ',
} as const;
