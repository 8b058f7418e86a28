import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import type { RateRules } from '../../../../src/console/shapes/rates.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useLanguage, useTexts } from '../../texts/index.ts';
import { texts } from './texts.ts';
import { fieldsOf, RuleInputs, readRules } from './values.tsx';

/** Sends the version of the rules it was made on: a change based on old rules is refused. */
export function ChangeRules({ rules, onClose }: { rules: RateRules; onClose: () => void }) {
  const t = useTexts(texts);
  const [seen, setSeen] = useState(rules);
  const language = useLanguage();
  const [fields, setFields] = useState(() => fieldsOf(rules, language));
  const chosen = readRules(fields);
  const isStale = seen.version !== rules.version;
  const isUnchanged =
    chosen?.spread_bps === seen.spread_bps &&
    chosen.band_percent === seen.band_percent &&
    chosen.jump_percent === seen.jump_percent;
  return (
    <Confirm
      title={t.changeTitle}
      says={t.changeSays}
      verb={t.change}
      withReason
      ready={chosen !== undefined && !isUnchanged && !isStale}
      run={reason => send('/rates/rules', { ...chosen, reason, expected_version: seen.version })}
      onClose={onClose}
    >
      <div className="fields">
        <RuleInputs fields={fields} onChange={setFields} />
      </div>
      {isStale && (
        <Alert color="yellow" role="alert" title={t.stale}>
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              setSeen(rules);
              setFields(fieldsOf(rules, language));
            }}
          >
            {t.takePresent}
          </Button>
        </Alert>
      )}
    </Confirm>
  );
}
