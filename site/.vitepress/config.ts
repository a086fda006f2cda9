import { siteConfig } from '../src/config.ts';

export default siteConfig();
