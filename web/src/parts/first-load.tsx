import { useCommon } from '../texts/common.ts';

/** Shown until the first answer of the server arrives; `index.html` has the same before the script is loaded. */
export const FirstLoad = () => (
  <div className="first-load" role="status" aria-busy="true" aria-label={useCommon().loading}>
    <div className="first-load-top" />
    <div className="first-load-lines" />
  </div>
);
