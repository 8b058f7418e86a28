export type { LoggedRequestRow } from '../../web/shapes.ts';
