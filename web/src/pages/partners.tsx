import { Route, Switch } from 'wouter';
import { PartnerList } from './partners/list.tsx';
import { OnePartner } from './partners/partner.tsx';

export default function Partners() {
  return (
    <Switch>
      <Route path="/partners" component={PartnerList} />
      <Route path="/partners/:id/:part?">
        {({ id, part }) => <OnePartner key={id} partnerId={id} part={part} />}
      </Route>
    </Switch>
  );
}
