export { operations, requestStates } from './choices.ts';
export { durationWords } from './duration.ts';
export { healthName, healthSentence, recentWords, type SeenHealth } from './health.ts';
export { dollarWords } from './money.ts';
