import { Route, Switch } from 'wouter';
import { Entries } from './ledger/entries.tsx';
import { LedgerOverview } from './ledger/overview.tsx';

export default function Ledger() {
  return (
    <Switch>
      <Route path="/ledger/:id/:mode">
        {({ id, mode }) => <Entries partnerId={id} mode={mode === 'test' ? 'test' : 'live'} />}
      </Route>
      <Route component={LedgerOverview} />
    </Switch>
  );
}
