import { useState } from 'react';
import { useCommon } from '../texts/common.ts';
import { Icon } from './icon.tsx';

/** A value with a copy button, shown in full or shortened. */
export function Copyable({ text, short }: { text: string; short?: string }) {
  const t = useCommon();
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  }
  return (
    <span className="copyable">
      <code title={short ? text : undefined}>{short ?? text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`${t.copy}: ${text}`} title={t.copy}>
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
      <span className="unseen" aria-live="polite">
        {copied ? t.copied : ''}
      </span>
    </span>
  );
}
