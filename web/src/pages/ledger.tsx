import { Route, Switch } from 'wouter';
import { Books } from './ledger/books.tsx';
import { Entries } from './ledger/entries.tsx';

export default function Ledger() {
  return (
    <Switch>
      <Route path="/ledger/:id/:mode">
        {({ id, mode }) => <Entries partnerId={id} mode={mode === 'test' ? 'test' : 'live'} />}
      </Route>
      <Route component={Books} />
    </Switch>
  );
}
