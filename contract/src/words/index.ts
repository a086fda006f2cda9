export { durationWords } from './duration.ts';
export { dollarWords } from './money.ts';
