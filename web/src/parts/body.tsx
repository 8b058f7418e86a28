import { CopyButton } from './values.tsx';

/** The body of a request or a response, with a button that copies it as it is. */
export const Body = ({ text, label }: { text: string; label: string }) => (
  <div className="copyable-body copyable">
    <pre>{pretty(text)}</pre>
    <CopyButton text={text} label={label} />
  </div>
);

/** JSON is indented; anything else, and JSON with numbers that would lose digits, is shown as it is. */
export function pretty(text: string): string {
  const start = text.indexOf('{');
  if (start < 0) return text;
  try {
    const laidOut = JSON.stringify(JSON.parse(text.slice(start)), null, 2);
    const isSame = laidOut.replace(/\s/g, '') === text.slice(start).replace(/\s/g, '');
    return isSame ? text.slice(0, start) + laidOut : text;
  } catch {
    return text;
  }
}
