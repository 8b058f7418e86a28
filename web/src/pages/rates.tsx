import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { RateNow, RateRules, RatesPage } from '../../../src/console/shapes.ts';
import { Action } from '../parts/action.tsx';
import { State } from '../parts/badge.tsx';
import { Choice } from '../parts/fields.tsx';
import { Card, Empty, type Fact, Facts, Loaded, PageFrame, Rows, useLive } from '../parts/page.tsx';
import { RateChart, RateSources } from '../parts/rate.tsx';
import { actorName, durationIn, Rate, Time } from '../parts/values.tsx';
import { useLanguage, useTexts } from '../texts/index.ts';
import { ChangeRules, Percents, percentsOf, ruleNames, TryRules } from './rates/rules.tsx';
import { texts } from './rates/texts.ts';

const spans = ['1', '24', '168', '720'] as const;

export default function Rates() {
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const hours = spans.find(one => one === params.get('hours')) ?? '24';
  const read = useLive<RatesPage>(`/rates?hours=${hours}`, 10_000);
  const page = read.data;
  return (
    <PageFrame title={t.nav.rates} lead={t.lead}>
      <Loaded of={read} />
      {page && (
        <div className="stack">
          <div className="grid">
            <div className="stack">
              <Now now={page.now} />
              <Rules rules={page.rules} />
            </div>
            <Card title={t.sources}>
              <RateSources sources={page.now?.sources ?? []} />
            </Card>
          </div>
          <Card
            title={t.history}
            side={
              <Choice
                label={t.span}
                value={hours}
                options={spans.map(one => [one, t.spans[one]])}
                onChange={chosen => setParams(chosen === '24' ? {} : { hours: chosen }, { replace: true })}
              />
            }
          >
            <RateChart title={t.history} history={page.history} height={240} />
          </Card>
          <TryRules key={page.rules.version} rules={page.rules} />
          <Changes changes={page.changes} />
        </div>
      )}
    </PageFrame>
  );
}

function Now({ now }: { now: RateNow | null }) {
  const t = useTexts(texts);
  const language = useLanguage();
  if (!now)
    return (
      <Card title={t.now}>
        <Empty title={t.noRate}>{t.noRateHint}</Empty>
      </Card>
    );
  return (
    <Card title={t.now} side={<State state={now.stale ? 'stale' : 'fresh'} />}>
      <p className="figure-value card-lead">
        <Rate rate={now.rate} /> <span className="figure-unit">{t.perUsdt}</span>
      </p>
      <Facts
        facts={[
          [t.mid, <Rate key="mid" rate={now.mid} />],
          [t.spread, <Percents key="spread" value={now.spread_bps / 100} />],
          [
            t.age,
            t.ageOf(
              durationIn(language, Math.max(1, now.age_sec) * 1000),
              durationIn(language, now.max_age_sec * 1000),
            ),
          ],
        ]}
      />
    </Card>
  );
}

function Rules({ rules }: { rules: RateRules }) {
  const t = useTexts(texts);
  const [changing, setChanging] = useState(false);
  return (
    <Card
      title={t.rules}
      side={
        <Action needs="rates.change" onClick={() => setChanging(true)}>
          {t.change}
        </Action>
      }
    >
      <Facts
        facts={[
          ...ruleNames.map(
            (name): Fact => [
              t[name],
              <span key={name} title={t[`${name}Hint`]}>
                <Percents value={percentsOf(rules)[name]} />
              </span>,
            ],
          ),
          [
            t.setBy,
            rules.set_by ? (
              <span key="by">
                {actorName(rules.set_by)} · <Time as="short" at={rules.set_at} />
              </span>
            ) : (
              t.asInstalled
            ),
          ],
        ]}
      />
      {rules.reason && <p className="quote">{rules.reason}</p>}
      {changing && <ChangeRules rules={rules} onClose={() => setChanging(false)} />}
    </Card>
  );
}

function Changes({ changes }: { changes: RateRules[] }) {
  const t = useTexts(texts);
  return (
    <Card title={t.changes}>
      <Rows
        label={t.changes}
        rows={changes}
        keyOf={change => `${change.version}`}
        empty={<Empty title={t.noChanges}>{t.noChangesHint}</Empty>}
        columns={[
          {
            head: t.number,
            right: true,
            wideOnly: true,
            cell: change => <span className="number">{change.version}</span>,
          },
          { head: t.at, cell: change => <Time as="short" at={change.set_at} /> },
          { head: t.by, cell: change => actorName(change.set_by ?? '—') },
          ...ruleNames.map(name => ({
            head: t[name],
            right: true,
            cell: (change: RateRules) => <Percents value={percentsOf(change)[name]} />,
          })),
          { head: t.reason, cell: change => <span className="wrap-anywhere">{change.reason ?? '—'}</span> },
        ]}
      />
    </Card>
  );
}
