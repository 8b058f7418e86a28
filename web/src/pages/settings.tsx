import { Route, Switch } from 'wouter';
import { PageFrame } from '../parts/page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { Operators } from './settings/operators.tsx';
import { Service } from './settings/service.tsx';
import { Sessions } from './settings/sessions.tsx';
import { texts } from './settings/texts.ts';

export default function Settings() {
  const t = useTexts(texts);
  const shared = useShared();
  return (
    <PageFrame title={shared.nav.settings}>
      <Tabs
        label={t.parts}
        tabs={[
          ['/settings', t.service],
          ['/settings/operators', t.operators],
          ['/settings/sessions', t.sessions],
        ]}
      />
      <Switch>
        <Route path="/settings/operators" component={Operators} />
        <Route path="/settings/sessions" component={Sessions} />
        <Route component={Service} />
      </Switch>
    </PageFrame>
  );
}
