import { Route, Switch } from 'wouter';
import { OneDelivery } from './deliveries/delivery.tsx';
import { DeliveryList } from './deliveries/list.tsx';

export default function Deliveries() {
  return (
    <Switch>
      <Route path="/deliveries" component={DeliveryList} />
      <Route path="/deliveries/:partner/:event">
        {({ partner, event }) => <OneDelivery key={event} partnerId={partner} eventId={event} />}
      </Route>
    </Switch>
  );
}
