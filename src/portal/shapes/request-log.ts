export type { LoggedRequestRow } from '../../web/index.ts';
