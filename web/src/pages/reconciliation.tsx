import { Route, Switch } from 'wouter';
import { OneRun } from './reconciliation/run.tsx';
import { Runs } from './reconciliation/runs.tsx';

export default function Reconciliation() {
  return (
    <Switch>
      <Route path="/reconciliation/:id">{({ id }) => <OneRun key={id} runId={id} />}</Route>
      <Route component={Runs} />
    </Switch>
  );
}
