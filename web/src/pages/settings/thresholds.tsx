import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import type { SettingsPage } from '../../../../src/console/shapes/settings.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { editableIn, Rub, Usdt } from '../../parts/values.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';

type Values = SettingsPage['thresholds'];

export function Thresholds({ thresholds }: { thresholds: Values }) {
  const t = useTexts(texts);
  const [changing, setChanging] = useState(false);
  return (
    <Card
      title={t.thresholds}
      side={
        <Action needs="settings.thresholds" onClick={() => setChanging(true)}>
          {t.change}
        </Action>
      }
    >
      <p className="dim card-lead">{t.thresholdsSay}</p>
      <Facts
        facts={[
          [t.resolveAbove, <Rub key="rub" amount={thresholds.resolve_rub} />],
          [t.creditAbove, <Usdt key="usdt" amount={thresholds.credit_usdt} />],
        ]}
      />
      {changing && <Change thresholds={thresholds} onClose={() => setChanging(false)} />}
    </Card>
  );
}

const clean = (text: string) => text.replaceAll(/[\s\u00a0]/g, '').replace(',', '.');

function Change({ thresholds, onClose }: { thresholds: Values; onClose: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [seen, setSeen] = useState(thresholds);
  const [rub, setRub] = useState(editableIn(language, thresholds.resolve_rub));
  const [usdt, setUsdt] = useState(editableIn(language, thresholds.credit_usdt));
  const isRub = /^\d{1,9}(\.\d{1,2})?$/.test(clean(rub));
  const isUsdt = /^\d{1,9}(\.\d{1,6})?$/.test(clean(usdt));
  const isStale = seen.version !== thresholds.version;
  const isUnchanged = clean(rub) === seen.resolve_rub && clean(usdt) === seen.credit_usdt;
  const isRaised =
    Number(clean(rub)) > Number(seen.resolve_rub) || Number(clean(usdt)) > Number(seen.credit_usdt);
  return (
    <Confirm
      title={t.thresholds}
      says={t.changeSays}
      verb={t.change}
      ready={isRub && isUsdt && !isStale && !isUnchanged}
      run={() =>
        send('/settings/thresholds', {
          resolve_rub: clean(rub),
          credit_usdt: clean(usdt),
          expected_version: seen.version,
        })
      }
      onClose={onClose}
    >
      <div className="fields">
        <TextField
          label={t.resolveAbove}
          inputMode="decimal"
          rightSection="₽"
          value={rub}
          error={!isRub && t.notAnAmount}
          onChange={setRub}
          data-autofocus
        />
        <TextField
          label={t.creditAbove}
          inputMode="decimal"
          rightSection="USDT"
          rightSectionWidth={60}
          value={usdt}
          error={!isUsdt && t.notAnAmount}
          onChange={setUsdt}
        />
      </div>
      {isRaised && <Alert color="yellow">{t.raised}</Alert>}
      {isStale && (
        <Alert color="yellow" role="alert" title={t.stale}>
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              setSeen(thresholds);
              setRub(editableIn(language, thresholds.resolve_rub));
              setUsdt(editableIn(language, thresholds.credit_usdt));
            }}
          >
            {t.takePresent}
          </Button>
        </Alert>
      )}
    </Confirm>
  );
}
