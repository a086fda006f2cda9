/** The one rule for alerts, limits and spend. It is in the contract because the console applies it to limits that are not saved yet. */
export { forecastOf, isEarly, tellingForecast, type UsedWindow } from '@relay/contract';
