import type { CheckResult } from '../../../../src/portal/shapes/webhook.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/page.tsx';
import { Duration } from '../../parts/values.tsx';
import { useTexts, wordIn } from '../../texts/language.ts';
import { texts } from './webhook.texts.ts';

export function CheckCard({ result }: { result: CheckResult }) {
  const t = useTexts(texts);
  return (
    <Card title={t.checkTitle}>
      <p>{result.passed ? t.passed : result.can_receive ? t.canReceive : t.cannotReceive}</p>
      {result.re_enabled && <p>{t.reEnabled}</p>}
      <ul className="portal-notices">
        {result.results.map(({ name, passed, answered, duration_ms }) => (
          <li key={name} className="between">
            <span>
              <Badge tone={passed ? 'good' : 'bad'}>{answered}</Badge> {wordIn(t.checks, name)}
            </span>
            <span className="dim">
              <Duration ms={duration_ms} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
