/** Programs that use the libraries of other languages, and print as JSON what came of it. */

const python = `
import json, os
from kopeck import Kopeck, KopeckError

links = json.loads(os.environ["LINKS"])
url = os.environ["KOPECK_URL"]
# The pauses between retries are not those of the service's clock.
kopeck = Kopeck(os.environ["KOPECK_KEY"], url, sleep=lambda seconds: None)
found = {
    "ping": kopeck.ping()["mode"],
    "balance": kopeck.balance()["balance_usdt"],
    "rate": kopeck.rate()["rate"],
    "quote": kopeck.quote(amount_rub="100")["amount_usdt"],
    "resolved": kopeck.qr.resolve(qr_url=links["paid"])["amount_rub"],
}

def pay(link, order, **more):
    return kopeck.payments.create_and_wait(qr_url=links[link], external_id=order, **more)

paid = pay("paid", "paid", amount_rub="100.00", metadata={"cart": [1, "два"]})
found["paid"] = [paid["status"], paid["metadata"]]
found["again"] = pay("paid", "paid", amount_rub="100.00", metadata={"cart": [1, "два"]})["id"] == paid["id"]
found["lost"] = pay("lost", "lost", metadata={"kopeck_scenario": "answer_lost"})["status"]
refused = pay("refusedTwice", "refused-twice", metadata={"kopeck_scenario": "unavailable_twice"})
found["refusedTwice"] = refused["status"]
declined = pay("declined", "declined")
found["declined"] = [declined["status"], declined["error"]["code"]]
found["listed"] = [one["external_id"] for one in kopeck.payments.list(status="succeeded", limit=1)]
found["failed"] = [one["external_id"] for one in kopeck.payments.list(status="failed").page()["data"]]
events = kopeck.events.read(follow=False)
first = next(event for event in events if event["data"]["id"] == paid["id"])
found["events"] = [1, first["event"]]
day = os.environ["DAY"]
found["statement"] = kopeck.statement(day=day)["digest"] in kopeck.statement(day=day, format="csv")
found["deposit"] = kopeck.test.deposits.create(amount_usdt="250", reference="top-up-1")["amount_usdt"]
found["clock"] = kopeck.test.clock.advance(seconds=30)["advanced_sec"] == kopeck.test.clock.get()["advanced_sec"]

found["errors"] = {}
for call in (
    lambda: Kopeck("svc_test_nobody_nothing", url).ping(),
    lambda: kopeck.payments.get("pay_1"),
    lambda: kopeck.quote(amount_rub="none"),
    lambda: kopeck.payments.create(qr_url=links["changed"]),
):
    try:
        call()
    except KopeckError as error:
        name = type(error).__name__.removesuffix("rror")
        found["errors"][error.code] = [name, error.status, error.retryable, error.same_key]
print(json.dumps(found))
`;

const pythonVerifier = `
import json, os
from kopeck import SignatureError, verify_webhook

def is_good(body, header, secret):
    try:
        return verify_webhook(body.encode(), header, secret)["id"] == "evt_1"
    except SignatureError:
        return False

found = [is_good(one["body"], one["header"], "whsec") for one in json.loads(os.environ["CASES"])]
standard = json.loads(os.environ["STANDARD"])
print(json.dumps([*found, is_good(standard["body"], standard["headers"], standard["secret"])]))
`;

const pythonTypes = `
import json
from kopeck import types

names = ("Payment", "Ping", "Balance", "Rate", "Quote", "ResolvedQr", "PaymentPage", "EventPage", "Statement", "TestClock", "TestDeposit")
def fields_of(name):
    kind = getattr(types, name)
    return [*kind.__required_keys__, *kind.__optional_keys__]
print(json.dumps({name: fields_of(name) for name in names}))
`;

const php = `
require 'autoload.php';

use Kopeck\\Kopeck;
use Kopeck\\KopeckException;

$links = json_decode(getenv('LINKS'), true);
$url = getenv('KOPECK_URL');
// The pauses between retries are not those of the service's clock.
$kopeck = new Kopeck(getenv('KOPECK_KEY'), $url, sleep: function (float $seconds): void {});
$found = [
    'ping' => $kopeck->ping()['mode'],
    'balance' => $kopeck->balance()['balance_usdt'],
    'rate' => $kopeck->rate()['rate'],
    'quote' => $kopeck->quote('100')['amount_usdt'],
    'resolved' => $kopeck->qr->resolve($links['paid'])['amount_rub'],
];
$pay = fn (string $link, string $order, ?string $amount = null, ?array $metadata = null) =>
    $kopeck->payments->createAndWait($links[$link], $amount, $order, $metadata);

$paid = $pay('paid', 'paid', '100.00', ['cart' => [1, 'два']]);
$found['paid'] = [$paid['status'], $paid['metadata']];
$found['again'] = $pay('paid', 'paid', '100.00', ['cart' => [1, 'два']])['id'] === $paid['id'];
$found['lost'] = $pay('lost', 'lost', null, ['kopeck_scenario' => 'answer_lost'])['status'];
$refused = $pay('refusedTwice', 'refused-twice', null, ['kopeck_scenario' => 'unavailable_twice']);
$found['refusedTwice'] = $refused['status'];
$declined = $pay('declined', 'declined');
$found['declined'] = [$declined['status'], $declined['error']['code']];
$all = iterator_to_array($kopeck->payments->list('succeeded', limit: 1), false);
$found['listed'] = array_column($all, 'external_id');
$found['failed'] = array_column($kopeck->payments->list('failed')->page()['data'], 'external_id');
foreach ($kopeck->events->read(follow: false) as $event) {
    if ($event['data']['id'] === $paid['id']) {
        $found['events'] = [1, $event['event']];
    }
}
$day = getenv('DAY');
$found['statement'] = str_contains($kopeck->statementCsv($day), $kopeck->statement($day)['digest']);
$found['deposit'] = $kopeck->test->deposits->create('250', 'top-up-1')['amount_usdt'];
$found['clock'] = $kopeck->test->clock->advance(30)['advanced_sec'] === $kopeck->test->clock->get()['advanced_sec'];

$calls = [
    fn () => (new Kopeck('svc_test_nobody_nothing', $url))->ping(),
    fn () => $kopeck->payments->get('pay_1'),
    fn () => $kopeck->quote('none'),
    fn () => $kopeck->payments->create($links['changed']),
];
foreach ($calls as $call) {
    try {
        $call();
    } catch (KopeckException $error) {
        $name = preg_replace('/^Kopeck\\\\\\\\|xception$/', '', $error::class);
        $found['errors'][$error->errorCode] = [$name, $error->status, $error->retryable, $error->sameKey];
    }
}
echo json_encode($found);
`;

const phpVerifier = `
require 'autoload.php';

$isGood = function (array $one): bool {
    try {
        return Kopeck\\Webhook::verify($one['body'], $one['headers'] ?? $one['header'], $one['secret'] ?? 'whsec')['id'] === 'evt_1';
    } catch (Kopeck\\SignatureException) {
        return false;
    }
};
$cases = json_decode(getenv('CASES'), true);
echo json_encode(array_map($isGood, [...$cases, json_decode(getenv('STANDARD'), true)]));
`;

/** The shapes are in comments, for PHPStan; the names of fields stand before their colons. */
const phpTypes = `
require 'autoload.php';

$text = file_get_contents('src/Kopeck.php');
preg_match('/@phpstan-type Payment array\\{(.*?)^ \\* \\}/ms', $text, $payment);
$flat = preg_replace('/array\\{[^}]*\\}/', '', $payment[1]);
preg_match_all('/(\\w+)\\??: /', $flat, $fields);
echo json_encode(['Payment' => $fields[1]]);
`;

interface Driver {
  language: 'python' | 'php';
  folder: string;
  program: string;
  unitTests: string[];
  runCode(code: string): string[];
  /** What an example leaves to the installation is replaced by the files of the repository. */
  exampleOf(code: string): string;
  code: string;
  verifier: string;
  types: string;
}

export const drivers: Driver[] = [
  {
    language: 'python',
    folder: 'sdk-python',
    program: 'python3',
    // No compiled files: the folder is the one of the repository.
    unitTests: ['-B', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'],
    runCode: code => ['-B', '-c', code],
    exampleOf: code => code,
    code: python,
    verifier: pythonVerifier,
    types: pythonTypes,
  },
  {
    language: 'php',
    folder: 'sdk-php',
    program: 'php',
    unitTests: ['tests/run.php'],
    runCode: code => ['-r', code],
    exampleOf: code => code.replace('<?php\n', '').replace('vendor/autoload.php', 'autoload.php'),
    code: php,
    verifier: phpVerifier,
    types: phpTypes,
  },
];
