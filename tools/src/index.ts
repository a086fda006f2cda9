export { headingAnchor } from './tidy/heading-anchors.ts';
