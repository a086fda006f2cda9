export { capitalized } from './capitalized.ts';
export { operations, requestStates } from './choices.ts';
export { counted, countWords } from './count.ts';
export { durationWords } from './duration.ts';
export { healthName, healthSentence, recentWords, type SeenHealth } from './health.ts';
export { limitAmountWords, limitRuleWords } from './limit.ts';
export { dollarWords, microsOf } from './money.ts';
export { sizeWords } from './size.ts';
export { isPastWaitBudget } from './wait-budget.ts';
